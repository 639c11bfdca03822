// Matrix Market files from matrices in memory. Numbers are the shortest that read back as the same value.
// Files appear whole or not at all, and are gzip when the name ends in .gz.
#pragma once

#include <string>

#include "espalier/matrix.hpp"

namespace espalier {

/// A coordinate file: "symmetric" or "hermitian" with the lower triangle as stored, else "general"; the
/// description's name as a comment. Error{io_error} naming `path`; Error{bad_input} when a value is NaN or
/// infinite, which no reader would accept.
void write_matrix(std::string const& path, NamedMatrix const& matrix);

/// An array file, column by column, for any of the four scalars. Errors as above.
template <class T> void write_dense(std::string const& path, DenseMatrix<T> const& dense);

} // namespace espalier
