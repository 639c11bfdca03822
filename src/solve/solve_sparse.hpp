// Solves with sparse right-hand sides: the forward half visits only what they reach (sparse_block.hpp).
#pragma once

#include "espalier/matrix.hpp"
#include "solve/solve.hpp"

namespace espalier {

/// How much of the tree the forward half of a sparse solve saw.
struct SparseSolveStats {
    Index blocks = 0;          ///< Groups of right-hand sides that went through the tree together.
    Offset cblks_visited = 0;  ///< Summed over the blocks ...
    Offset cblks_in_total = 0; ///< ... of blocks * num_cblks.
};

/// op(A) X = B for B stored in full (n x nrhs, Symmetry::general): X into x (n x nrhs, x.ld >= n), which need
/// not be initialized. The same as solve() with a dense B up to rounding, columns of zeros included. Entries
/// that B stores twice are added. Error{usage} as for solve(), and when sizes do not fit together or B is
/// declared symmetric; Error{bad_input} naming a row outside the matrix.
template <class T> SparseSolveStats solve_sparse(Factor<T> const& factor, FactorPlan const& plan,
                                                 CscMatrix<T> const& b, MatrixView<T> x, WorkerTeam& team,
                                                 SolveOptions const& options = {});

} // namespace espalier
