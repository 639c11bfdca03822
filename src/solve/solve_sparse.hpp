// Solves with sparse right-hand sides. The forward half visits only the cblks that they reach
// (sparse_block.hpp).
#pragma once

#include "espalier/matrix.hpp"
#include "solve/solve.hpp"

namespace espalier {

/// Solves op(A) X = B with one process. B is n x nrhs with Symmetry::general; duplicate entries are added. X
/// (n x nrhs, x.ld >= n) is overwritten with the result of solve() up to rounding. Error{usage} as for
/// solve(), and if sizes do not match or B is declared symmetric; Error{bad_input} that names a row outside
/// the matrix.
template <class T> void solve_sparse(Factor<T> const& factor, FactorPlan const& plan, CscMatrix<T> const& b,
                                     MatrixView<T> x, WorkerTeam& team, SolveOptions const& options = {});

} // namespace espalier
