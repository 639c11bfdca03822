// Matrix Market exchange files, parsed from memory. Boisvert, Pozo, Remington 1996, "The Matrix Market
// exchange formats: initial design", NISTIR 5935.
#pragma once

#include <complex>
#include <variant>

#include "espalier/matrix.hpp"
#include "io/matrix_market_header.hpp"
#include "io/parse_numbers.hpp"
#include "matrix/assemble.hpp"

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

// The steps of these, for a file of which each process reads some of the lines. `bytes` follow the head.

/// What a head says of a sparse matrix that cannot be; Error as parse_matrix_market().
void check_matrix_head(Source const& source, MarketHeader const& header, Offset bytes);
/// Of a dense block; Error as parse_matrix_market_dense().
void check_dense_head(Source const& source, MarketHeader const& header, Offset bytes);
/// All but the entries of the file `name`.
CoordinateData without_entries(std::string const& name, MarketHeader const& header);
/// Rows first_row .. first_row + rows - 1 of the dense block of a coordinate file, whose `triples` are
/// theirs. Error{bad_input} when a sum overflows.
template <class T> DenseMatrix<T> scatter(Index rows, Index cols, Index first_row, Triples<T> const& triples,
                                          std::string const& name);

} // namespace espalier
