// Reads matrices and right-hand sides from files by all processes together. Each process reads and parses a
// range of bytes of a plain Matrix Market file, and sends the entries to their owners. Process 0 reads any
// other file and distributes it. The numbers, their order, the notes and the errors are those of io/read.hpp.
// Columns and rows are distributed evenly (distributed/shares.hpp).
#pragma once

#include <string>

#include "espalier/communicator.hpp"
#include "espalier/matrix.hpp"
#include "io/matrix_market.hpp"

namespace espalier {

/// Collective: the columns of this process, and the description of the whole matrix. Each process parses with
/// `threads` threads. Errors as read_matrix(), on all processes. A process that cannot open the file, or sees
/// a file of another size, causes an Error{io_error} that names it.
NamedMatrix read_matrix_parts(Communicator const& comm, std::string const& path, int threads);

/// Collective: the rows of this process of a dense block. Errors as read_dense() and above.
AnyDense read_dense_parts(Communicator const& comm, std::string const& path, int threads);

} // namespace espalier
