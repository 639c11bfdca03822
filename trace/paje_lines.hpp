// The lines of a Paje file: the definitions at its head, and a writer of fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/paje.hpp"

namespace espalier::trace {

/// The definition of each event with its number and fields.
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

/// Appends fields to a text, which is passed to the sink when it is long enough.
class PajeLines {
  public:
    /// Values are cut at this length, as ViTE reads lines of at most 4096 bytes.
    static constexpr std::size_t longest = 3000;

    explicit PajeLines(Sink const& sink);

    PajeLines& event(PajeNumber number);
    PajeLines& word(std::string_view word);
    PajeLines& word(char prefix, std::int64_t number);
    PajeLines& integer(std::int64_t value);
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
