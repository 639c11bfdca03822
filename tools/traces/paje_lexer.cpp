#include "tools/traces/paje_lexer.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "espalier/types.hpp"

namespace espalier::trace {
namespace {

constexpr std::size_t longest_line = 16 << 20;

// In the order of PajeEvent.
constexpr std::array<std::string_view, int(PajeEvent::other)> event_names{
    "PajeDefineContainerType", "PajeDefineStateType",  "PajeDefineVariableType",
    "PajeDefineLinkType",      "PajeDefineEventType",  "PajeDefineEntityValue",
    "PajeCreateContainer",     "PajeDestroyContainer", "PajeSetState",
    "PajePushState",           "PajePopState",         "PajeResetState",
    "PajeSetVariable",         "PajeAddVariable",      "PajeSubVariable",
    "PajeStartLink",           "PajeEndLink",          "PajeNewEvent"};

PajeEvent event_named(std::string_view name) {
    // An unknown name has the index of PajeEvent::other.
    return static_cast<PajeEvent>(std::find(event_names.begin(), event_names.end(), name) -
                                  event_names.begin());
}

struct NamedField {
    std::string_view name;
    PajeField field;
};
constexpr NamedField field_names[] = {{"Time", PajeField::time},
                                      {"Type", PajeField::type},
                                      {"EntityType", PajeField::type},
                                      {"ContainerType", PajeField::type},
                                      {"Container", PajeField::container},
                                      {"Value", PajeField::value},
                                      {"Key", PajeField::key},
                                      {"Alias", PajeField::alias},
                                      {"Name", PajeField::name},
                                      {"NewName", PajeField::name},
                                      {"Color", PajeField::color},
                                      {"StartContainer", PajeField::start_container},
                                      {"SourceContainer", PajeField::start_container},
                                      {"EndContainer", PajeField::end_container},
                                      {"DestContainer", PajeField::end_container},
                                      {"StartContainerType", PajeField::start_container_type},
                                      {"SourceContainerType", PajeField::start_container_type},
                                      {"EndContainerType", PajeField::end_container_type},
                                      {"DestContainerType", PajeField::end_container_type},
                                      {"Category", PajeField::category},
                                      {"Unit", PajeField::unit},
                                      {"Task", PajeField::task},
                                      {"Cblk", PajeField::cblk},
                                      {"Level", PajeField::level},
                                      {"Continued", PajeField::continued},
                                      {"Bytes", PajeField::bytes},
                                      {"Tag", PajeField::tag},
                                      {"Distance", PajeField::distance}};

PajeField field_named(std::string_view name) {
    for (auto const& [known, field] : field_names)
        if (name == known) return field;
    return PajeField::other;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

// A part of the file in a message, without control characters.
std::string shown(std::string_view text) {
    std::string result;
    for (char const c : text.substr(0, 40)) result += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
    return "'" + result + (text.size() > 40 ? "...'" : "'");
}

} // namespace

LineReader::LineReader(std::string path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {
    if (!file_)
        throw Error(Status::io_error, fmt::format("cannot open trace '{}': {}", path_, std::strerror(errno)));
    gzbuffer(file_, 1 << 18);
    buffer_.resize(1 << 18);
}

LineReader::~LineReader() {
    gzclose_r(file_);
}

// Moves the unread rest to the front and reads more behind it; false at the end of the file.
bool LineReader::refill() {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    if (end_ == buffer_.size()) {
        if (buffer_.size() >= longest_line) {
            ++line_number_;
            fail("the line is longer than 16 MiB");
        }
        buffer_.resize(2 * buffer_.size());
    }
    int const count = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
    int code = Z_OK;
    char const* const message = count <= 0 ? gzerror(file_, &code) : "";
    if (count < 0 || code == Z_BUF_ERROR) // Z_BUF_ERROR at the end: the compressed file is truncated
        throw Error(Status::io_error, fmt::format("cannot read trace '{}': {}", path_,
                                                  code == Z_ERRNO ? std::strerror(errno) : message));
    end_ += count;
    return count > 0;
}

bool LineReader::next(std::string_view& line) {
    std::size_t searched = 0;
    for (;;) {
        auto const* const first = buffer_.data() + at_;
        if (auto const* const stop =
                static_cast<char const*>(std::memchr(first + searched, '\n', end_ - at_ - searched))) {
            line = {first, stop};
            at_ += line.size() + 1;
            break;
        }
        searched = end_ - at_;
        if (refill()) continue;
        if (searched == 0) return false;
        line = {buffer_.data() + at_, searched};
        at_ = end_;
        break;
    }
    ++line_number_;
    return true;
}

void LineReader::fail(std::string const& what) const {
    throw Error(Status::bad_input, fmt::format("{}:{}: {}", path_, line_number_, what));
}

bool PajeLexer::next_word(std::string_view& rest, std::string_view& word) const {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) return false;
    std::size_t stop = 0;
    if (rest.front() == '"') {
        stop = rest.find('"', 1);
        if (stop == std::string_view::npos) fail("a quotation mark is not closed");
        word = rest.substr(1, stop - 1);
        ++stop;
    } else {
        while (stop < rest.size() && !is_blank(rest[stop])) ++stop;
        word = rest.substr(0, stop);
    }
    rest.remove_prefix(stop);
    return true;
}

// "%EventDef PajeSetState 9", "% Time date", "%EndEventDef"
void PajeLexer::define(std::string_view line) {
    std::string_view rest = line.substr(1), word, number;
    if (!next_word(rest, word)) return;
    if (word == "EventDef") {
        if (open_) fail("a definition is inside another definition");
        if (!next_word(rest, word) || !next_word(rest, number))
            fail("an event definition needs a name and a number");
        auto const [at, fresh] = definitions_.try_emplace(integer(number, "number of an event definition"));
        if (!fresh) fail(fmt::format("event {} is defined twice", shown(number)));
        open_ = &at->second;
        open_->event = event_named(word);
        return;
    }
    if (!open_) fail(fmt::format("{} is outside an event definition", shown(line)));
    if (word == "EndEventDef") {
        open_ = nullptr;
        return;
    }
    open_->fields.push_back(field_named(word));
}

bool PajeLexer::next(PajeLine& line) {
    std::string_view rest, word;
    while (reader_.next(rest)) {
        while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
        if (rest.empty() || rest.front() == '#') continue;
        if (rest.front() == '%') {
            define(rest);
            continue;
        }
        if (open_) fail("an event is inside a definition");
        next_word(rest, word);
        auto const number = integer(word, "number of an event");
        auto const found = definitions_.find(number);
        if (found == definitions_.end()) fail(fmt::format("event {} is not defined", shown(word)));
        line.event = found->second.event;
        if (line.event == PajeEvent::other) continue;
        line.fields_.fill({});
        line.present_.fill(false);
        for (PajeField const field : found->second.fields) {
            if (!next_word(rest, word)) fail("the event has fewer fields than its definition");
            line.fields_[int(field)] = word;
            line.present_[int(field)] = true;
        }
        return true;
    }
    if (open_) fail("the file ends inside a definition");
    return false;
}

template <class Number>
Number PajeLexer::parse(std::string_view text, char const* what, char const* expected) const {
    Number value = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool finite = true;
    if constexpr (std::is_floating_point_v<Number>) finite = std::isfinite(value);
    if (error != std::errc() || stop != text.data() + text.size() || !finite)
        fail(fmt::format("{}: {} is not a {}", what, shown(text), expected));
    return value;
}

double PajeLexer::real(std::string_view text, char const* what) const {
    return parse<double>(text, what, "number");
}

std::int64_t PajeLexer::integer(std::string_view text, char const* what) const {
    return parse<std::int64_t>(text, what, "whole number");
}

Nanoseconds PajeLexer::time(std::string_view text) const {
    // "123.456" is converted without rounding: the whole part, then three digits.
    auto const point = std::min(text.find('.'), text.size());
    bool const plain = text.find_first_not_of("0123456789.") == std::string_view::npos;
    if (plain && point > 0 && point < 16 && text.size() - point <= 4) {
        std::int64_t whole = integer(text.substr(0, point), "time");
        for (std::size_t i = point + 1; i < point + 4; ++i) {
            char const digit = i < text.size() ? text[i] : '0';
            if (digit == '.') fail(fmt::format("time: {} is not a number", shown(text)));
            whole = 10 * whole + (digit - '0');
        }
        return whole;
    }
    double const nanoseconds = real(text, "time") * 1000;
    if (!(std::abs(nanoseconds) < 9e17)) fail(fmt::format("time {} is too large", shown(text)));
    return std::llround(nanoseconds);
}

} // namespace espalier::trace
