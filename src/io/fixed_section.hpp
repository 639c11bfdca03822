// A section of a Harwell-Boeing file: numbers in fixed columns, as many to a line as its format has fields.
// In: where it begins, its format and how many numbers it has; out: the numbers, and where it ends.
#pragma once

#include <string_view>
#include <vector>

#include "io/fortran_format.hpp"
#include "io/parse_numbers.hpp"

namespace espalier {

/// The line of p, without blanks and carriage returns at its end.
std::string_view line_at(char const* p, char const* end);

class FixedSection {
  public:
    /// Finds the section's lines from `begin` on. `what` names its numbers in messages, e.g. "row indices";
    /// it and the source must outlive the section. Error{bad_input} as "name:line: what" when the file is too
    /// short for `count` numbers, before anything of that size is allocated.
    FixedSection(Source const& source, char const* begin, char const* what, std::vector<FixedField> format,
                 Offset count, int threads);

    /// The numbers, which must be integers in lowest .. highest. Error{bad_input} naming line and fault.
    [[nodiscard]] std::vector<Index> integers(Index lowest, Index highest) const;

    /// The numbers, which must be real and finite; `implied` tells whether one of them had no decimal point
    /// and so has some digits of fraction by its format. Error{bad_input} naming line and fault.
    [[nodiscard]] std::vector<double> reals(bool& implied) const;

    [[nodiscard]] char const* end() const { return end_; }
    [[nodiscard]] Offset num_lines() const { return num_lines_; }
    [[nodiscard]] char const* what() const { return what_; }
    /// The line that holds number k, for messages.
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
