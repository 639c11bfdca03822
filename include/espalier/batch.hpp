// Many systems with one pattern, each of which is too small for several threads.
#pragma once

#include <span>
#include <vector>

#include "espalier/matrix.hpp"
#include "espalier/options.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// The solutions of a batch.
template <class T> struct BatchSolution {
    /// n x nrhs for each system, one after another, like b. NaN if the system failed.
    std::vector<T> x;
    /// One for each system: ok, inaccurate, singular or not_positive_definite.
    std::vector<Status> status;
    /// One for each system, like RefineReport::backward_error. NaN if the system failed.
    std::vector<double> backward_error;
};

/// Factorizes and solves systems A_k X_k = B_k whose matrices have the pattern of `pattern`, across
/// Options::threads threads (0: all cores), each of which solves its share of the systems by itself. `values`
/// has the stored values of one matrix after another, and `b` the right-hand sides, n x nrhs each. Imaginary
/// parts in the diagonal of a Hermitian matrix that may be rounding errors are dropped. Every solution is
/// refined and checked as in Solver::refine(). A failure of one system does not affect the others. Each
/// thread analyzes the first system that can be analyzed. The results have the same bits in each run with the
/// same number of threads. Error{usage} for wrong sizes and for Options::schur; {bad_input} for values that
/// are not finite; {cancelled}, {out_of_memory}. Options::log and Options::progress are not used;
/// Options::cancel is called on the calling thread.
template <class T> ESPALIER_API BatchSolution<T> solve_batch(CscMatrix<T> const& pattern,
                                                             std::span<T const> values, std::span<T const> b,
                                                             Index nrhs = 1, Options options = {});

} // namespace espalier
