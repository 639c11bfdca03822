#include "trace/paje_lines.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace espalier::trace {

std::string_view const paje_definitions = R"(%EventDef PajeDefineContainerType 0
%       Alias string
%       Type string
%       Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%       Alias string
%       Type string
%       Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
%       Alias string
%       Type string
%       Name string
%       Color color
%       Unit string
%EndEventDef
%EventDef PajeDefineLinkType 3
%       Alias string
%       Type string
%       StartContainerType string
%       EndContainerType string
%       Name string
%EndEventDef
%EventDef PajeDefineEventType 4
%       Alias string
%       Type string
%       Name string
%EndEventDef
%EventDef PajeDefineEntityValue 5
%       Alias string
%       Type string
%       Name string
%       Color color
%       Category string
%EndEventDef
%EventDef PajeCreateContainer 6
%       Time date
%       Alias string
%       Type string
%       Container string
%       Name string
%EndEventDef
%EventDef PajeDestroyContainer 7
%       Time date
%       Type string
%       Name string
%EndEventDef
%EventDef PajeSetState 8
%       Time date
%       Type string
%       Container string
%       Value string
%EndEventDef
%EventDef PajeSetState 9
%       Time date
%       Type string
%       Container string
%       Value string
%       Task int
%       Cblk int
%       Level int
%       Continued int
%EndEventDef
%EventDef PajeSetVariable 10
%       Time date
%       Type string
%       Container string
%       Value double
%EndEventDef
%EventDef PajeStartLink 11
%       Time date
%       Type string
%       Container string
%       StartContainer string
%       Value string
%       Key string
%       Bytes int
%       Tag int
%       Distance int
%EndEventDef
%EventDef PajeEndLink 12
%       Time date
%       Type string
%       Container string
%       EndContainer string
%       Value string
%       Key string
%EndEventDef
%EventDef PajeNewEvent 13
%       Time date
%       Type string
%       Container string
%       Value string
%EndEventDef
)";

PajeLines::PajeLines(Sink const& sink) : sink_(sink) {
    text_.reserve(1 << 17);
}

PajeLines& PajeLines::event(PajeNumber number) {
    if (text_.size() >= 1 << 16) flush();
    return raw_integer(number);
}

PajeLines& PajeLines::word(std::string_view word) {
    text_ += ' ';
    text_ += word;
    return *this;
}

PajeLines& PajeLines::word(char prefix, std::int64_t number) {
    text_ += ' ';
    text_ += prefix;
    return raw_integer(number);
}

PajeLines& PajeLines::integer(std::int64_t value) {
    text_ += ' ';
    return raw_integer(value);
}

PajeLines& PajeLines::quoted(std::string_view value) {
    text_ += " \"";
    for (char const c : value.substr(0, longest))
        text_ += c == '"' ? '\'' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    text_ += '"';
    return *this;
}

PajeLines& PajeLines::time(Nanoseconds time) {
    integer(time / 1000);
    auto const rest = static_cast<int>(time % 1000);
    text_ += '.';
    text_ += static_cast<char>('0' + rest / 100);
    text_ += static_cast<char>('0' + rest / 10 % 10);
    text_ += static_cast<char>('0' + rest % 10);
    return *this;
}

PajeLines& PajeLines::number(double value) {
    std::array<char, 32> digits;
    bool const whole = std::abs(value) < 1e15 && value == std::floor(value);
    auto const end = whole ? std::to_chars(digits.begin(), digits.end(), static_cast<std::int64_t>(value))
                           : std::to_chars(digits.begin(), digits.end(), value);
    return word({digits.data(), end.ptr});
}

PajeLines& PajeLines::color(Color color) {
    fmt::format_to(std::back_inserter(text_), " \"{:.3f} {:.3f} {:.3f}\"", color.red / 255.0,
                   color.green / 255.0, color.blue / 255.0);
    return *this;
}

void PajeLines::flush() {
    sink_(text_);
    text_.clear();
}

PajeLines& PajeLines::raw_integer(std::int64_t value) {
    std::array<char, 24> digits;
    auto const end = std::to_chars(digits.begin(), digits.end(), value);
    text_.append(digits.data(), end.ptr - digits.data());
    return *this;
}

} // namespace espalier::trace
