// Refinement of a solution, and its backward errors.
//
// Iterative refinement repeats x += A^-1 (b - A x) with the factors at hand and the residual in working
// precision (Skeel 1980): a step or two undo growth and a few replaced pivots. Where it stalls, a Krylov
// method with the factors as preconditioner goes on (krylov.hpp).
#pragma once

#include <span>

#include "core/progress.hpp"
#include "espalier/matrix.hpp"
#include "espalier/report.hpp"
#include "refine/krylov.hpp"

namespace espalier {

struct RefineOptions {
    RefineMethod method = RefineMethod::automatic;
    int max_iterations = 0; ///< 0: 10 steps of ir, 300 of a Krylov method.
    double tolerance = 0;   ///< Backward error that counts as converged; 0: default_tolerance<T>().
    ProgressSink* progress = nullptr;
};

/// 1e-12 in double precision, 1e-5 in single.
template <class T> double default_tolerance();

/// Improve the columns of x in place. Every method stops when the normwise backward error is at the level of
/// rounding (4 epsilon) and keeps the best iterate it has seen; ir also stops when a step no longer halves
/// the error. `automatic` is ir, then gmres for what is still above the tolerance. report.method is the last
/// method that did a step. Error{usage} for cg on a matrix that is neither Hermitian nor real symmetric.
template <class T> RefineReport refine(CscMatrix<T> const& a, std::span<T const> b, std::span<T> x,
                                       Index nrhs, ApplyInverse<T> const& apply_inverse,
                                       RefineOptions const& options);

} // namespace espalier
