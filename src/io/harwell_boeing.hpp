// Parser of Harwell-Boeing and Rutherford-Boeing files in memory. They hold compressed columns in fixed-width
// Fortran fields, which need not be separated by blanks. Duff, Grimes, Lewis 1992, "Users' guide for the
// Harwell-Boeing sparse matrix collection (release I)"; Duff, Grimes, Lewis 1997, "The Rutherford-Boeing
// sparse matrix collection".
#pragma once

#include <string_view>

#include "io/parse_numbers.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// Whether the text has the header of such a file: line counts, then a three-letter type and sizes.
bool is_harwell_boeing(std::string_view text);

/// Parses an assembled matrix: real, complex, integer or pattern (with values 1); unsymmetric, symmetric,
/// Hermitian, skew-symmetric or rectangular. Right-hand sides are not read. The format determines the lines
/// of each section; a note is added if the header counts them differently. Throws Error{bad_input}
/// "name:line: ..."; Error{unsupported} for elemental matrices and for values in another file.
CoordinateData parse_harwell_boeing(Source const& source, int threads);

} // namespace espalier
