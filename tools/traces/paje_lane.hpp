// The states of one container of a Paje file, which are set, pushed on a stack, and popped from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

/// The kind of a state that stands for time without a record. The trace has no such state.
inline constexpr std::int16_t no_kind = -1;

class StateLane {
  public:
    /// Only states of the first type of a container are kept.
    bool keeps(std::int32_t type) {
        if (type_ < 0) type_ = type;
        return type_ == type;
    }
    /// Begins a state, which interrupts the current one.
    void push(State const& state, Nanoseconds now, std::vector<State>& states);
    /// Ends the current state, and continues the one below it. False if there is no state.
    bool pop(Nanoseconds now, std::vector<State>& states);
    /// Ends all states. All three members append finished states to `states`.
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

/// The category that the name of a state suggests.
Category guess_category(std::string name);

/// A color such as "0.5 0.5 1"; nothing if the text is not three numbers from 0 to 1.
std::optional<Color> parse_color(std::string_view text);

} // namespace espalier::trace
