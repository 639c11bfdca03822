// A section of a Harwell-Boeing file: numbers in fixed columns, with one number per field of the format in
// each line. Input: start, format and number of numbers; output: the numbers, and the end of the section.
//
// Fortran formats in Harwell-Boeing headers, e.g. (16I5), (1P,4E20.12), (4(1X,E19.12)). Input: the text of a
// format; output: the columns of the numbers in a line.
#pragma once

#include <string_view>
#include <vector>

#include "io/parse_numbers.hpp"

namespace espalier {

/// Columns [begin, end) of a line, and the format of the number in them.
struct FixedField {
    int begin = 0;    ///< First column, 0-based.
    int end = 0;      ///< One past the last column.
    int decimals = 0; ///< Digits of the fraction if the number has no decimal point.
    int scale = 0;    ///< k of kP: a number without an exponent is divided by 10^k.
};

/// The fields of a line in ascending columns; at least one. Supports repeat counts, one level of nested
/// parentheses, and the descriptors I, E, ES, EN, D, F, G, P and X. Throws Error{bad_input} if the text is
/// not a format, Error{unsupported} if the format has other descriptors or deeper nesting; the message has no
/// line number.
std::vector<FixedField> parse_fortran_format(std::string_view text);

/// The line that contains p, from p on, without trailing blanks and carriage returns.
std::string_view line_at(char const* p, char const* end);

class FixedSection {
  public:
    /// Finds the lines of the section, which starts at `begin`. `what` names the numbers in messages, e.g.
    /// "row indices"; `what` and the source must outlive the section. Throws Error{bad_input} "name:line:
    /// ..." if the file is too short for `count` numbers, before memory of that size is allocated.
    FixedSection(Source const& source, char const* begin, char const* what, std::vector<FixedField> format,
                 Offset count, int threads);

    /// Parses integers. Throws Error{bad_input} with the line if one is not an integer in lowest .. highest.
    [[nodiscard]] std::vector<Index> integers(Index lowest, Index highest) const;

    /// Parses real numbers. Sets `implied` if a number has no decimal point, so that the format implies its
    /// fraction. Throws Error{bad_input} with the line if one is not a finite number.
    [[nodiscard]] std::vector<double> reals(bool& implied) const;

    [[nodiscard]] char const* end() const { return end_; }
    [[nodiscard]] Offset num_lines() const { return num_lines_; }
    /// Name of the numbers in messages.
    [[nodiscard]] char const* what() const { return what_; }
    /// The line that contains number k, for messages.
    [[nodiscard]] char const* line_of(Offset k) const;

  private:
    // The lines that one thread parses.
    struct Piece {
        char const* begin;
        Offset first_number;
    };
    template <class Parse> void for_each(Parse const& parse) const;
    template <class Parse> void parse_line(char const* p, Offset& k, Offset last, Parse const& parse) const;
    [[noreturn]] void fail_number(char const* first, char const* last, std::string const& fault) const;

    Source const& source_;
    char const* what_;
    std::vector<FixedField> format_;
    Offset count_;
    Offset num_lines_ = 0;
    char const* begin_;
    char const* end_ = nullptr;
    std::vector<Piece> pieces_;
};

} // namespace espalier
