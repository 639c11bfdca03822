#include "tools/traces/paje_lexer.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include <zlib.h>

#include "espalier/types.hpp"

namespace espalier::trace {
namespace {

constexpr std::size_t longest_line = std::size_t(16) << 20;

template <class Value> struct Named {
    std::string_view name;
    Value value;
};

constexpr Named<PajeEvent> event_names[] = {{"PajeDefineContainerType", PajeEvent::define_container_type},
                                            {"PajeDefineStateType", PajeEvent::define_state_type},
                                            {"PajeDefineVariableType", PajeEvent::define_variable_type},
                                            {"PajeDefineLinkType", PajeEvent::define_link_type},
                                            {"PajeDefineEventType", PajeEvent::define_event_type},
                                            {"PajeDefineEntityValue", PajeEvent::define_entity_value},
                                            {"PajeCreateContainer", PajeEvent::create_container},
                                            {"PajeDestroyContainer", PajeEvent::destroy_container},
                                            {"PajeSetState", PajeEvent::set_state},
                                            {"PajePushState", PajeEvent::push_state},
                                            {"PajePopState", PajeEvent::pop_state},
                                            {"PajeResetState", PajeEvent::reset_state},
                                            {"PajeSetVariable", PajeEvent::set_variable},
                                            {"PajeAddVariable", PajeEvent::add_variable},
                                            {"PajeSubVariable", PajeEvent::sub_variable},
                                            {"PajeStartLink", PajeEvent::start_link},
                                            {"PajeEndLink", PajeEvent::end_link},
                                            {"PajeNewEvent", PajeEvent::new_event}};

constexpr Named<PajeField> field_names[] = {{"Time", PajeField::time},
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

template <class Value, std::size_t size>
Value look_up(Named<Value> const (&names)[size], std::string_view name, Value otherwise) {
    auto const* const found =
        std::find_if(names, names + size, [&](auto const& n) { return n.name == name; });
    return found == names + size ? otherwise : found->value;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/// For messages: what the file says, without what would spoil a terminal.
std::string shown(std::string_view text) {
    std::string result;
    for (char const c : text.substr(0, 40)) result += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
    return "'" + result + (text.size() > 40 ? "...'" : "'");
}

} // namespace

LineReader::LineReader(std::string path) : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb")) {
    if (!file_) throw Error(Status::io_error, "cannot open trace '" + path_ + "': " + std::strerror(errno));
    gzbuffer(file_, 1 << 18);
    buffer_.resize(1 << 18);
}

LineReader::~LineReader() {
    gzclose_r(file_);
}

// Moves what is left to the front and reads more behind it; false when there is no more.
bool LineReader::refill() {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    if (end_ == buffer_.size()) {
        if (buffer_.size() >= longest_line) {
            ++line_number_;
            fail("a line of more than 16 MiB");
        }
        buffer_.resize(2 * buffer_.size());
    }
    int const count = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
    int code = Z_OK;
    char const* const message = count <= 0 ? gzerror(file_, &code) : "";
    if (count < 0 || code == Z_BUF_ERROR) // Z_BUF_ERROR at the end: the compressed file is cut short.
        throw Error(Status::io_error, "cannot read trace '" + path_ +
                                          "': " + (code == Z_ERRNO ? std::strerror(errno) : message));
    end_ += static_cast<std::size_t>(count);
    return count > 0;
}

bool LineReader::next(std::string_view& line) {
    std::size_t searched = 0;
    for (;;) {
        auto const* const first = buffer_.data() + at_;
        if (auto const* const stop =
                static_cast<char const*>(std::memchr(first + searched, '\n', end_ - at_ - searched))) {
            line = {first, static_cast<std::size_t>(stop - first)};
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
    throw Error(Status::bad_input, path_ + ":" + std::to_string(line_number_) + ": " + what);
}

bool PajeLexer::take_word(std::string_view& rest, std::string_view& word) const {
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
    if (!take_word(rest, word)) return;
    if (word == "EventDef") {
        if (open_) fail("a definition inside a definition");
        if (!take_word(rest, word) || !take_word(rest, number))
            fail("an event definition needs a name and a number");
        auto const [at, fresh] = definitions_.try_emplace(integer(number, "number of an event definition"));
        if (!fresh) fail("event " + shown(number) + " is defined twice");
        open_ = &at->second;
        open_->event = look_up(event_names, word, PajeEvent::other);
        return;
    }
    if (!open_) fail(shown(line) + " stands outside an event definition");
    if (word == "EndEventDef") {
        open_ = nullptr;
        return;
    }
    open_->fields.push_back(look_up(field_names, word, PajeField::other));
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
        if (open_) fail("an event inside a definition");
        take_word(rest, word);
        auto const number = integer(word, "number of an event");
        auto const found = definitions_.find(number);
        if (found == definitions_.end()) fail("event " + shown(word) + " is not defined");
        line.event = found->second.event;
        if (line.event == PajeEvent::other) continue;
        line.fields_.fill({});
        line.present_.fill(false);
        for (PajeField const field : found->second.fields) {
            if (!take_word(rest, word)) fail("the event has fewer fields than its definition");
            line.fields_[static_cast<std::size_t>(field)] = word;
            line.present_[static_cast<std::size_t>(field)] = true;
        }
        return true;
    }
    if (open_) fail("the file ends inside a definition");
    return false;
}

double PajeLexer::real(std::string_view text, char const* what) const {
    double value = 0;
    auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size() || !std::isfinite(value))
        fail(std::string(what) + ": " + shown(text) + " is not a number");
    return value;
}

std::int64_t PajeLexer::integer(std::string_view text, char const* what) const {
    std::int64_t value = 0;
    auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
        fail(std::string(what) + ": " + shown(text) + " is not a whole number");
    return value;
}

Nanoseconds PajeLexer::time(std::string_view text, double nanoseconds_per_unit) const {
    // "123.456" in microseconds without rounding: its whole part, then three digits.
    auto const point = std::min(text.find('.'), text.size());
    bool const plain = text.find_first_not_of("0123456789.") == std::string_view::npos;
    if (nanoseconds_per_unit == 1000 && plain && point > 0 && point < 16 && text.size() - point <= 4) {
        std::int64_t whole = integer(text.substr(0, point), "time");
        for (std::size_t i = point + 1; i < point + 4; ++i) {
            char const digit = i < text.size() ? text[i] : '0';
            if (digit < '0' || digit > '9') fail("time: " + shown(text) + " is not a number");
            whole = 10 * whole + (digit - '0');
        }
        return whole;
    }
    double const nanoseconds = real(text, "time") * nanoseconds_per_unit;
    if (!(std::abs(nanoseconds) < 9e17)) fail("time " + shown(text) + " is too large");
    return std::llround(nanoseconds);
}

} // namespace espalier::trace
