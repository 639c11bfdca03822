// Reads matrices and dense blocks from files. The content determines the format: a %%MatrixMarket banner, the
// header of a Harwell-Boeing or Rutherford-Boeing file, or the first bytes of gzip data. `threads` threads
// parse the text; 0 means all cores of the process. The result does not depend on the number of threads.
#pragma once

#include <string>
#include <string_view>

#include "espalier/matrix.hpp"
#include "io/matrix_market.hpp"

namespace espalier {

/// Reads a sparse matrix. Throws Error{io_error} if the file cannot be read; Error{bad_input} "path:line:
/// ..." if it is invalid or its entries contradict the declared symmetry; Error{unsupported};
/// Error{out_of_memory}.
NamedMatrix read_matrix(std::string const& path, int threads);

/// Reads a dense block, e.g. right-hand sides, from a Matrix Market array or coordinate file, with the same
/// errors.
AnyDense read_dense(std::string const& path, int threads);

/// Parses a sparse matrix in memory; `name` replaces the path in messages.
NamedMatrix parse_matrix(std::string_view text, std::string const& name, int threads);
/// Parses a dense block in memory; `name` replaces the path in messages.
AnyDense parse_dense(std::string_view text, std::string const& name, int threads);

/// The last component of a path, which is the name of the matrix.
std::string file_name(std::string const& path);

} // namespace espalier
