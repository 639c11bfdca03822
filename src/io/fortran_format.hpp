// Fortran formats of the kind that Harwell-Boeing headers carry, e.g. (16I5), (1P,4E20.12), (4(1X,E19.12)):
// in, the text of one; out, the columns of a line where its numbers stand.
#pragma once

#include <string_view>
#include <vector>

namespace espalier {

/// Columns [begin, end) of a line, 0-based, and how to read what is there.
struct FixedField {
    int begin = 0;
    int end = 0;
    int decimals = 0;     ///< Digits of the fraction, where the field shows no decimal point.
    int scale = 0;        ///< k of kP: without an exponent, the number is divided by 10^k.
    bool integer = false; ///< An I descriptor.
};

/// The fields of one line; there is at least one, in ascending columns. Repeat counts, one level of nested
/// parentheses, and the descriptors I, E, ES, EN, D, F, G, P and X are understood. Error{bad_input} without
/// a place when the text is no format, Error{unsupported} when it is one that describes no fixed columns.
std::vector<FixedField> parse_fortran_format(std::string_view text);

} // namespace espalier
