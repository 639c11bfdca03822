// Writes Matrix Market files. Numbers have the fewest digits that identify the value. A file appears complete
// or not at all (atomic_file.hpp); it is compressed by gzip if its name ends in .gz.
#pragma once

#include <string>

#include "espalier/matrix.hpp"

namespace espalier {

/// Writes a coordinate file: "symmetric" or "hermitian" with the lower triangle, else "general"; the name of
/// the description is a comment. Throws Error{io_error} with `path`; Error{bad_input} for a NaN or infinite
/// value.
void write_matrix(std::string const& path, NamedMatrix const& matrix);

/// Writes an array file, column by column, with the same errors.
template <class T> void write_dense(std::string const& path, DenseMatrix<T> const& dense);

} // namespace espalier
