// From the entries that a file stores to the storage of CscMatrix, with the columns dealt out over processes:
// what matrix/triangles.hpp does with a matrix in one place, with the same result and the same notes. What
// must meet its mirror image travels to the owner of that.
#pragma once

#include <string>
#include <vector>

#include "distributed/shares.hpp"
#include "espalier/communicator.hpp"
#include "espalier/matrix.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// Collective, as fold_triangles(). `part` has this process's columns.
template <class T> void fold_parts(Communicator const& comm, Shares const& columns, CscMatrix<T>& part,
                                   DeclaredSymmetry declared, std::string const& source,
                                   std::vector<std::string>& notes);

/// Collective, as recognize_symmetry(). Entries travel only when sums over both triangles agree.
template <class T> void recognize_parts(Communicator const& comm, Shares const& columns, CscMatrix<T>& part,
                                        std::vector<std::string>& notes);

} // namespace espalier
