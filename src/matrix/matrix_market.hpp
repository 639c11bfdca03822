// Matrix Market exchange files, parsed from memory. Boisvert, Pozo, Remington 1996, "The Matrix Market
// exchange formats: initial design", NISTIR 5935.
#pragma once

#include <complex>
#include <variant>

#include "espalier/matrix.hpp"
#include "matrix/assemble.hpp"
#include "matrix/parse_numbers.hpp"

namespace espalier {

using AnyDense = std::variant<DenseMatrix<double>, DenseMatrix<std::complex<double>>>;

/// Whether the text begins with the %%MatrixMarket banner, in any case.
bool is_matrix_market(std::string_view text);

/// A coordinate file: real, double, integer, complex or pattern (whose values become 1); general, symmetric,
/// skew-symmetric or hermitian. One entry per line; blank and comment lines may stand anywhere after the
/// banner. Error{bad_input} as "name:line: what"; Error{unsupported} for an array file.
CoordinateData parse_matrix_market(Source const& source, int threads);

/// A dense block, e.g. right-hand sides: an array file (real, double, integer or complex; general), or a
/// coordinate file, whose absent entries are zero. Duplicates of a coordinate file are summed.
AnyDense parse_matrix_market_dense(Source const& source, int threads);

} // namespace espalier
