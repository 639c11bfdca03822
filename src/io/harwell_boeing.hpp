// Harwell-Boeing and Rutherford-Boeing files, parsed from memory: compressed columns in fixed-width Fortran
// fields, read by column since they may touch. Duff, Grimes, Lewis 1992, "Users' guide for the
// Harwell-Boeing sparse matrix collection (release I)"; Duff, Grimes, Lewis 1997, "The Rutherford-Boeing
// sparse matrix collection".
#pragma once

#include <string_view>

#include "io/parse_numbers.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// Whether the text has the header of such a file: counts of lines, then a three-letter type and sizes.
bool is_harwell_boeing(std::string_view text);

/// An assembled matrix: real, complex, integer or pattern (whose values become 1); unsymmetric, symmetric,
/// Hermitian, skew-symmetric or rectangular. Right-hand sides that follow it are not read. The lines of
/// each section follow from its format; where the header counts them differently a note says so.
/// Error{bad_input} as "name:line: what"; Error{unsupported} for elemental matrices, and for values that are
/// in another file.
CoordinateData parse_harwell_boeing(Source const& source, int threads);

} // namespace espalier
