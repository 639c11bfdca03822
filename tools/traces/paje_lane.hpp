// The states of one container as a Pajé file tells them: set, pushed on a stack and popped from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

/// A state that means that nothing was recorded; it does not become one of the trace.
inline constexpr std::int16_t no_kind = -1;

class StateLane {
  public:
    /// Of several types of states the first one counts.
    bool counts(std::int32_t type) {
        if (type_ < 0) type_ = type;
        return type_ == type;
    }
    /// The present state waits, and this one begins.
    void push(State const& state, Nanoseconds now, std::vector<State>& states);
    /// The present state ends, and the one under it goes on. False when there is none.
    bool pop(Nanoseconds now, std::vector<State>& states);
    /// All end. What ended is appended to `states`.
    void close(Nanoseconds now, std::vector<State>& states);

  private:
    struct Open {
        State state;
        bool interrupted = false;
    };
    void leave(Nanoseconds now, std::vector<State>& states);

    std::vector<Open> stack_;
    std::int32_t type_ = -1;
};

/// What a state of another program is, judged by its name.
Category guess_category(std::string name);

/// "0.5 0.5 1", each from 0 to 1; nothing when it is none.
std::optional<Color> parse_color(std::string_view text);

} // namespace espalier::trace
