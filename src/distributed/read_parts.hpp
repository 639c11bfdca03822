// Matrices and right-hand sides from files, read by all processes together. Each process reads and parses a
// range of bytes of a plain Matrix Market file, and sends the entries to their owners. Process 0 reads any
// other file and deals it out. The numbers, their order, the notes and the errors are those of io/read.hpp.
// Columns and rows are dealt out evenly (distributed/shares.hpp).
#pragma once

#include <string>

#include "espalier/communicator.hpp"
#include "espalier/matrix.hpp"
#include "io/matrix_market.hpp"

namespace espalier {

/// Collective: this process's columns of the matrix, and the description of all of it. `threads` of each
/// process parse. Errors as read_matrix(), on all processes; one that opens no file, or one of another size,
/// is Error{io_error} that names it.
NamedMatrix read_matrix_parts(Communicator const& comm, std::string const& path, int threads);

/// Collective: this process's rows of a dense block. Errors as read_dense() and above.
AnyDense read_dense_parts(Communicator const& comm, std::string const& path, int threads);

} // namespace espalier
