// Parser of Matrix Market exchange files in memory. Boisvert, Pozo, Remington 1996, "The Matrix Market
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

/// Parses a coordinate or array file: real, double, integer, complex or (coordinate only) pattern, with
/// values 1; general, symmetric, skew-symmetric or Hermitian. Each line has one entry; blank and comment
/// lines may appear anywhere after the banner. Zeros of an array are not stored. Throws Error{bad_input}
/// "name:line: ...".
CoordinateData parse_matrix_market(Source const& source, int threads);

/// Parses a dense block, e.g. right-hand sides, from a general array file (real, double, integer or complex)
/// or a general coordinate file, whose missing entries are 0 and whose duplicates are summed. Throws
/// Error{bad_input} "name:line: ..."; Error{unsupported} for other symmetries.
AnyDense parse_matrix_market_dense(Source const& source, int threads);

// The following steps are also used for a file that several processes read in parts.

/// Checks the head of a sparse matrix that is followed by `bytes` bytes; errors as parse_matrix_market().
void check_matrix_head(Source const& source, MarketHeader const& header, Offset bytes);
/// Checks the head of a dense block, with the errors of parse_matrix_market_dense().
void check_dense_head(Source const& source, MarketHeader const& header, Offset bytes);
/// The content of the file `name` without its entries.
CoordinateData without_entries(std::string const& name, MarketHeader const& header);
/// Rows first_row .. first_row + rows - 1 of the dense block of a coordinate file; `triples` are the entries
/// of these rows. Throws Error{bad_input} if a sum of duplicates overflows.
template <class T> DenseMatrix<T> scatter(Index rows, Index cols, Index first_row, Triples<T> const& triples,
                                          std::string const& name);

} // namespace espalier
