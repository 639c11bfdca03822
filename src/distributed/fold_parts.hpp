// Converts the entries that a file stores to the storage of CscMatrix, with the columns distributed over
// processes. Results and notes are those of matrix/triangles.hpp for a whole matrix. Entries that are
// compared with their mirror images are sent to the owners of these.
#pragma once

#include <string>
#include <vector>

#include "distributed/shares.hpp"
#include "espalier/communicator.hpp"
#include "espalier/matrix.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// Collective, as fold_triangles(). `part` has the columns of this process.
template <class T> void fold_parts(Communicator const& comm, Shares const& columns, CscMatrix<T>& part,
                                   DeclaredSymmetry declared, std::string const& source,
                                   std::vector<std::string>& notes);

/// Collective, as recognize_symmetry(). Sends entries only if the sums over both triangles agree.
template <class T> void recognize_parts(Communicator const& comm, Shares const& columns, CscMatrix<T>& part,
                                        std::vector<std::string>& notes);

} // namespace espalier
