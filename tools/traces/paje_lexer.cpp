#include "tools/traces/paje_lexer.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "espalier/types.hpp"

namespace espalier::trace {
namespace {

constexpr std::size_t longest_line = 16 << 20;

// Also under the older names of some fields.
PajeField field_named(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> older[] = {{"EntityType", "Type"},
                                                                       {"ContainerType", "Type"},
                                                                       {"NewName", "Name"},
                                                                       {"SourceContainer", "StartContainer"},
                                                                       {"DestContainer", "EndContainer"}};
    for (auto const& [known, field] : older)
        if (name == known) return PajeField(field);
    return PajeField(name);
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
    buffer_.resize(1 << 16);
}

LineReader::~LineReader() {
    gzclose_r(file_);
}

bool LineReader::next(std::string_view& line) {
    ++line_number_;
    std::size_t size = 0;
    auto const first = gztell(file_); // positions give the length of a line that contains zero bytes
    while (gzgets(file_, buffer_.data() + size, static_cast<int>(buffer_.size() - size))) {
        size = gztell(file_) - first;
        if (buffer_[size - 1] == '\n') {
            line = {buffer_.data(), size - 1};
            return true;
        }
        if (size > longest_line) fail("the line is longer than 16 MiB");
        if (size + 1 == buffer_.size()) buffer_.resize(2 * buffer_.size());
    }
    require_no_error();
    line = {buffer_.data(), size};
    if (size == 0) --line_number_;
    return size > 0;
}

void LineReader::require_no_error() const {
    int code = Z_OK;
    std::string_view message = gzerror(file_, &code);
    if (code == Z_OK || code == Z_STREAM_END) return;
    if (code == Z_ERRNO)
        throw Error(Status::io_error, fmt::format("cannot read trace '{}': {}", path_, std::strerror(errno)));
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    auto const offset = gzoffset(file_); // negative for a pipe
    if (code == Z_BUF_ERROR)
        throw Error(Status::bad_input,
                    fmt::format("{}: truncated gzip data{}", path_,
                                offset < 0 ? "" : fmt::format(": it ends after {} bytes", offset)));
    if (message.starts_with(path_ + ": ")) message.remove_prefix(path_.size() + 2);
    throw Error(Status::bad_input,
                fmt::format("{}: corrupt gzip data{}: {}", path_,
                            offset < 0 ? "" : fmt::format(" near byte {}", offset), message));
}

void LineReader::fail(std::string const& what) const {
    std::string const place = line_number_ > 0 ? fmt::format("{}:{}", path_, line_number_) : path_;
    throw Error(Status::bad_input, fmt::format("{}: {}", place, what));
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
        open_->event = PajeEvent(word);
        return;
    }
    if (!open_) fail(fmt::format("not a Paje trace: {} is outside an event definition", shown(line)));
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
        if (!line.event.is_known()) continue;
        line.fields_.fill({});
        for (PajeField const field : found->second.fields) {
            if (!next_word(rest, word)) fail("the event has fewer fields than its definition");
            line.fields_[field.index] = word;
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
