// Fast parsing of numbers in text. Input: a range of characters; output: an integer or a double, or the
// reason why there is none. Lines are counted only for error messages, from the position of the error.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// A text and its name in messages. It may be part of a file that begins with line `first_line`. The caller
/// owns the characters.
class Source {
  public:
    Source(std::string_view text, std::string name, std::int64_t first_line = 1)
        : text_(text), name_(std::move(name)), first_line_(first_line) {}
    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] char const* begin() const { return text_.data(); }
    [[nodiscard]] char const* end() const { return text_.data() + text_.size(); }

    /// 1-based line number of a position in the text or at its end.
    [[nodiscard]] std::int64_t line_of(char const* where) const;
    /// Throws Error{status} "name:line: what" for the position `where`.
    [[noreturn]] void fail(char const* where, std::string const& what,
                           Status status = Status::bad_input) const;

  private:
    std::string_view text_;
    std::string name_;
    std::int64_t first_line_;
};

/// Whether c is white space other than a line feed.
inline bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}
inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}
/// Whether p is at a blank, a line feed or the end.
inline bool ends_number(char const* p, char const* end) {
    return p == end || is_blank(*p) || *p == '\n';
}

inline char const* skip_blanks(char const* p, char const* end) {
    while (p != end && is_blank(*p)) ++p;
    return p;
}

/// The line feed that ends the line of p, or `end`.
char const* line_end(char const* p, char const* end);

/// The first character of the next line, or `end`.
inline char const* next_line(char const* p, char const* end) {
    p = line_end(p, end);
    return p == end ? end : p + 1;
}

std::string_view token_at(char const* p, char const* end);

/// The token in quotes for a message, shortened and without unprintable characters.
std::string in_quotes(std::string_view token);

char const* parse_integer_slowly(char const* p, char const* end, std::int64_t& value);
char const* parse_real_slowly(char const* p, char const* end, double& value);

/// Parses an integer at p that is followed by a blank or the end of the line. Returns the position after it,
/// or null if there is no integer or it does not fit 64 bits; bad_integer() then gives the reason.
inline char const* parse_integer(char const* p, char const* end, std::int64_t& value) {
    char const* q = p;
    std::uint64_t sum = 0;
    for (; q != end && is_digit(*q); ++q) sum = 10 * sum + static_cast<std::uint64_t>(*q - '0');
    if (q != p && q - p <= 18 && ends_number(q, end)) [[likely]] {
        value = static_cast<std::int64_t>(sum);
        return q;
    }
    return parse_integer_slowly(p, end, value);
}

/// Parses a finite real number at p that is followed by a blank or the end of the line, in the formats of C
/// and Fortran, including a leading '+' and the exponent letters D and d. Underflow gives 0. Returns the
/// position after it, or null; bad_real() then gives the reason.
inline char const* parse_real(char const* p, char const* end, double& value) {
    auto const [q, error] = std::from_chars(p, end, value);
    if (error == std::errc{} && ends_number(q, end) && std::isfinite(value)) [[likely]]
        return q;
    return parse_real_slowly(p, end, value);
}

/// Parses [p, end), without blanks, as a real number according to a Fortran edit descriptor: without a
/// decimal point the last `decimals` digits are the fraction; without an exponent the number is divided by
/// 10^scale; the letter of the exponent may be missing ("1.5-103"). Returns false if it is not a number;
/// bad_real() then gives the reason.
bool parse_fixed_real(char const* p, char const* end, int decimals, int scale, double& value);

/// The reason why there is no integer at p, e.g. "'1.5' is not an integer".
std::string bad_integer(char const* p, char const* end);
std::string bad_real(char const* p, char const* end);

/// Splits `text` into 1 to `parts` pieces of similar size that end with a line feed, except possibly the
/// last. Pieces have at least 256 KiB, so a small text is not split.
std::vector<std::string_view> split_at_line_ends(std::string_view text, int parts);

} // namespace espalier
