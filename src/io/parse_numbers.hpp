// Numbers in text, at the speed of memory. In: a range of characters. Out: an integer or a double, or the
// reason why there is none. Nothing counts lines on the way: a message's line number is found from the
// position at fault, when there is one.
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

/// A text and the name it goes by in messages; part of a file's when it begins with line `first_line` of it.
/// The characters belong to the caller.
class Source {
  public:
    Source(std::string_view text, std::string name, std::int64_t first_line = 1)
        : text_(text), name_(std::move(name)), first_line_(first_line) {}
    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] char const* begin() const { return text_.data(); }
    [[nodiscard]] char const* end() const { return text_.data() + text_.size(); }

    /// 1-based line of a position inside the text (or its end).
    [[nodiscard]] std::int64_t line_of(char const* where) const;
    /// Error{status}, "name:line: what".
    [[noreturn]] void fail(char const* where, std::string const& what,
                           Status status = Status::bad_input) const;

  private:
    std::string_view text_;
    std::string name_;
    std::int64_t first_line_;
};

inline bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}
inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}
inline bool ends_number(char const* p, char const* end) {
    return p == end || is_blank(*p) || *p == '\n';
}

/// Past the blanks of this line.
inline char const* skip_blanks(char const* p, char const* end) {
    while (p != end && is_blank(*p)) ++p;
    return p;
}

/// The newline that ends the line of p, or `end`.
char const* line_end(char const* p, char const* end);

/// The first character of the next line, or `end`.
inline char const* next_line(char const* p, char const* end) {
    p = line_end(p, end);
    return p == end ? end : p + 1;
}

/// The characters up to the next blank or line end.
std::string_view token_at(char const* p, char const* end);

/// A token in quotes for a message: shortened, unprintable characters replaced.
std::string in_quotes(std::string_view token);

char const* parse_integer_slowly(char const* p, char const* end, std::int64_t& value);
char const* parse_real_slowly(char const* p, char const* end, double& value);

/// An integer at p, followed by a blank or the end of its line. Returns the position after it, or null when
/// there is none or it does not fit 64 bits; bad_integer() then says which.
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

/// A finite real number at p, followed by a blank or the end of its line: what C and Fortran print, so also
/// a leading '+' and the exponent letters D and d. One too small for a double is rounded to zero. Returns
/// the position after it, or null; bad_real() then says why.
inline char const* parse_real(char const* p, char const* end, double& value) {
    auto const [q, error] = std::from_chars(p, end, value);
    if (error == std::errc{} && ends_number(q, end) && std::isfinite(value)) [[likely]]
        return q;
    return parse_real_slowly(p, end, value);
}

/// A real number that fills [p, end), without blanks, read as a Fortran edit descriptor does: no decimal
/// point means that the last `decimals` digits are the fraction; without an exponent the number is divided
/// by 10^scale; the exponent's letter may be missing ("1.5-103"). False when it is none; bad_real() says why.
bool parse_fixed_real(char const* p, char const* end, int decimals, int scale, double& value);

/// Why there is no integer (no real number) at p, e.g. "'1.5' is not an integer".
std::string bad_integer(char const* p, char const* end);
std::string bad_real(char const* p, char const* end);

/// `text` in at most `parts` pieces of similar size, each but the last ending with a newline. Pieces are no
/// smaller than a few hundred kilobytes, so a small text comes back whole. At least one piece.
std::vector<std::string_view> split_at_line_ends(std::string_view text, int parts);

} // namespace espalier
