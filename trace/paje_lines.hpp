// The lines of a Pajé file as Espalier writes them: the definitions at its head, and fields one after the
// other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/paje.hpp"

namespace espalier::trace {

/// One definition a kind of event, and its number. The names of the fields are the format's.
extern std::string_view const paje_definitions;

/// The numbers that paje_definitions gives to events.
enum PajeNumber {
    define_container_type,
    define_state_type,
    define_variable_type,
    define_link_type,
    define_event_type,
    define_entity_value,
    create_container,
    destroy_container,
    set_state,
    set_task,
    set_variable,
    start_link,
    end_link,
    new_event
};

// A text that grows by fields and is handed on when it is long enough.
class PajeLines {
  public:
    /// Values are cut at this length: ViTE reads no line beyond 4096 bytes.
    static constexpr std::size_t longest = 3000;

    explicit PajeLines(Sink const& sink);

    PajeLines& event(PajeNumber number);
    PajeLines& word(std::string_view word);
    PajeLines& word(char prefix, std::int64_t number);
    PajeLines& integer(std::int64_t value);
    /// Cut where it is too long for a line.
    PajeLines& quoted(std::string_view value);
    /// Microseconds, to the nanosecond.
    PajeLines& time(Nanoseconds time);
    PajeLines& number(double value);
    PajeLines& color(Color color);
    void end() { text_ += '\n'; }
    void raw(std::string_view text) { text_ += text; }
    void flush();

  private:
    PajeLines& raw_integer(std::int64_t value);

    Sink const& sink_;
    std::string text_;
};

} // namespace espalier::trace
