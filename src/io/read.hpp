// The front door of matrix input: a path in, a matrix and what was understood of it out. The format is told
// by the content: the %%MatrixMarket banner, or the header of a Harwell-Boeing or Rutherford-Boeing file;
// gzip by its first bytes. `threads` parse; 0 for the cores this process may use. The result does not
// depend on their number.
#pragma once

#include <string>
#include <string_view>

#include "espalier/matrix.hpp"
#include "io/matrix_market.hpp"

namespace espalier {

/// Error{io_error} when the file cannot be read; Error{bad_input} as "path:line: what" when it cannot be
/// understood, or when its entries contradict the symmetry it declares; Error{unsupported};
/// Error{out_of_memory}.
NamedMatrix read_matrix(std::string const& path, int threads);

/// A dense block such as right-hand sides, from a Matrix Market array or coordinate file. Errors as above.
AnyDense read_dense(std::string const& path, int threads);

/// Both from memory; `name` stands for the path in messages.
NamedMatrix parse_matrix(std::string_view text, std::string const& name, int threads);
AnyDense parse_dense(std::string_view text, std::string const& name, int threads);

/// A path's last part, which is the name of its matrix.
std::string file_name(std::string const& path);

} // namespace espalier
