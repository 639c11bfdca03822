// Fortran formats in Harwell-Boeing headers, e.g. (16I5), (1P,4E20.12), (4(1X,E19.12)). Input: the text of a
// format; output: the columns of the numbers in a line.
#pragma once

#include <string_view>
#include <vector>

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

} // namespace espalier
