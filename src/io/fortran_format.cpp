// A recursive-descent parser of depth two. Length, columns and repeat counts are bounded, so every format is
// parsed in a short time.
#include <fmt/format.h>

#include "espalier/types.hpp"
#include "io/fixed_section.hpp"

namespace espalier {

namespace {

constexpr int max_columns = 4096;
constexpr std::size_t max_length = 200;

class FormatParser {
  public:
    explicit FormatParser(std::string_view text) : text_(text) {
        if (text.size() > max_length) fail("is too long");
    }

    std::vector<FixedField> parse() {
        if (take() != '(') fail("does not begin with '('");
        list();
        if (peek() != '\0') fail("has text after its last ')'");
        if (fields_.empty()) fail("describes no numbers");
        return std::move(fields_);
    }

  private:
    [[noreturn]] void fail(char const* what, Status status = Status::bad_input) const {
        throw Error(status, fmt::format("the format {} {}", in_quotes(text_), what));
    }

    // Skips blanks, which have no meaning in a format, and converts letters to upper case.
    char peek() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
        if (at_ == text_.size()) return '\0';
        char const c = text_[at_];
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    char take() {
        char const c = peek();
        if (c != '\0') ++at_;
        return c;
    }

    int number() {
        int value = 0;
        if (!is_digit(peek())) fail("lacks a number");
        while (is_digit(peek())) {
            value = 10 * value + (take() - '0');
            if (value > max_columns) fail("has too large a number");
        }
        return value;
    }

    // Parses items up to the closing parenthesis.
    void list() {
        for (char c = peek(); c != ')'; c = peek()) {
            if (c == ',')
                take();
            else
                item();
        }
        take();
    }

    void item() {
        bool const negative = peek() == '-';
        if (negative || peek() == '+') take();
        bool const counted = negative || is_digit(peek());
        int const count = counted ? number() : 1;
        char const c = peek();
        if (c == 'P' && counted) {
            take();
            scale_ = negative ? -count : count;
            return;
        }
        if (negative || count == 0) fail("has a repeat count that is not positive");
        if (c == '(') return group(count);
        if (c == 'X') {
            take();
            return advance(count);
        }
        descriptor(count);
    }

    // Fortran repeats the group when a line is full, so the group must contain all fields.
    void group(int count) {
        if (depth_ > 0 || !fields_.empty() || column_ > 0)
            fail("has an unsupported nesting of parentheses", Status::unsupported);
        depth_ = 1;
        take();
        auto const begin = at_;
        for (int k = 0; k < count; ++k) {
            at_ = begin;
            list();
        }
        if (peek() == ',') take();
        if (peek() != ')') fail("has an unsupported nesting of parentheses", Status::unsupported);
    }

    void descriptor(int count) {
        FixedField field;
        char const letter = take();
        if (letter == '\0') fail("ends without ')'");
        if (std::string_view("IEDFG").find(letter) == std::string_view::npos)
            fail("has a descriptor other than I, E, D, F, G, P and X", Status::unsupported);
        if (letter == 'E' && (peek() == 'S' || peek() == 'N')) take();
        int const width = number();
        if (width == 0) fail("has a field of width 0");
        if (peek() == '.') {
            take();
            field.decimals = number();
        }
        if (letter != 'F' && letter != 'I' && peek() == 'E') { // input does not need the exponent's width
            take();
            number();
        }
        if (letter == 'I')
            field.decimals = 0;
        else
            field.scale = scale_;
        for (int k = 0; k < count; ++k) {
            field.begin = column_;
            advance(width);
            field.end = column_;
            fields_.push_back(field);
        }
    }

    void advance(int columns) {
        column_ += columns;
        if (column_ > max_columns) fail("describes a line that is too long");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    int column_ = 0;
    int scale_ = 0;
    std::vector<FixedField> fields_;
};

} // namespace

std::vector<FixedField> parse_fortran_format(std::string_view text) {
    return FormatParser(text).parse();
}

} // namespace espalier
