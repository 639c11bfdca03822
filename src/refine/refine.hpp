// Refinement of the solutions of op(A) X = B, and their errors.
//
// Iterative refinement repeats x += op(A)^-1 (b - op(A) x) with the current factors and the residual in
// working precision (Skeel 1980). One or two steps correct element growth and a few replaced pivots. If it
// stalls, a Krylov method with the factors as preconditioner continues (krylov.hpp). All right-hand sides
// advance together with one blocked solve in each step, and leave the block when they have converged.
#pragma once

#include <cmath>
#include <span>

#include "core/interrupt.hpp"
#include "core/progress.hpp"
#include "core/scalar.hpp"
#include "distributed/distributed_matrix.hpp"
#include "espalier/report.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier {

/// How close ApplyInverse comes to the inverse.
enum class InverseAccuracy : std::uint8_t {
    full,                ///< Complete factors in the precision of the system.
    narrow,              ///< Complete factors in lower precision.
    incomplete,          ///< A preconditioner.
    incomplete_positive, ///< A Hermitian positive definite preconditioner.
};
inline bool is_incomplete(InverseAccuracy accuracy) {
    return accuracy == InverseAccuracy::incomplete || accuracy == InverseAccuracy::incomplete_positive;
}

struct RefineOptions {
    RefineMethod method = RefineMethod::automatic;
    /// Maximum for each right-hand side; 0: 10 steps of ir, 300 of a Krylov method, 2000 with an incomplete
    /// inverse.
    int max_iterations = 0;
    double tolerance = 0; ///< Backward error that counts as converged; 0: default_tolerance<T>().
    ProgressSink* progress = nullptr;
    MatrixOp op = MatrixOp::none;
    Interrupt* interrupt = nullptr;
    InverseAccuracy inverse = InverseAccuracy::full;
    bool measures_componentwise = true; ///< Whether to compute RefineReport::componentwise_error.
    /// Maximum bytes of the vectors of a method on each process; 0: some hundred MiB. Equal on all processes.
    std::uint64_t max_bytes = 0;
};

/// The least number of vectors that a method stores for a right-hand side.
Index least_vectors(RefineMethod method);

/// The bytes that computing the errors of a solution needs on a process besides vectors, from the numbers of
/// its rows, entries and workers.
template <class T> std::uint64_t error_bytes(Index rows, Offset stored, int workers, bool is_scaled);

/// 1e-12 in double precision, 1e-5 in single.
template <class T> double default_tolerance();
/// The tolerance of options in which 0 stands for default_tolerance<T>().
template <class T> double effective_tolerance(double tolerance) {
    return tolerance > 0 ? tolerance : default_tolerance<T>();
}
/// The normwise backward error at which the methods stop: 10 epsilon, or the tolerance if the inverse is
/// incomplete.
template <class T> double target_error(RefineOptions const& options);

/// The error of a solution that exceeds the tolerance: its backward error, or else that of the scaled system.
struct DecisiveError {
    double value = 0;
    bool is_scaled = false;
};
inline DecisiveError decisive_error(RefineReport const& report, double tolerance) {
    bool const is_scaled = report.backward_error <= tolerance && !report.history.empty();
    return {is_scaled ? report.history.back() : report.backward_error, is_scaled};
}

/// Improves the columns of x in place. Every method stops at the target error and keeps the best iterate of
/// each column. The method ir also stops when a step no longer halves the error. `automatic` runs ir, or cg
/// with an incomplete positive inverse, then gmres for the columns that are still above the tolerance. With
/// other incomplete inverses it runs gmres alone.
///
/// b and x have the local rows of nrhs columns. The report is the same on all processes: `method` is the last
/// one that did a step, `iterations` counts those of the slowest column, history has the iterations + 1
/// errors of the best iterates (inside a Krylov method as estimated by its recurrence), and status is ok or
/// inaccurate. A NaN or infinity in the matrix, b or the resulting x gives an infinite backward error.
/// Collective. Error{usage} for cg on a matrix that is neither Hermitian nor real symmetric, or a span of the
/// wrong size; Error{out_of_memory} if the least number of vectors exceeds max_bytes; Error{cancelled} if the
/// interrupt of any process is requested; x is then an intermediate iterate.
template <class T> RefineReport refine(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T> x,
                                       Index nrhs, ApplyInverse<T> const& apply_inverse,
                                       RefineOptions const& options);

/// Refinement with residuals in twice the working precision, for systems so ill-conditioned that a solution
/// has few correct digits in spite of a small backward error. If the factors have any correct digit of A^-1,
/// nearly all digits of the solution become correct (Demmel, Hida, Kahan, Li, Mukherjee, Riedy 2006).
/// x += op(A)^-1 (b - op(A) x) for each of `nrhs` columns while each correction is at most half of the one
/// before, until it no longer changes x. A column whose corrections do not shrink is left as it was. Returns
/// the largest number of corrections that a column took. Collective. Error{cancelled} with x between two
/// iterates.
template <class T>
int refine_extra_precisely(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T> x, Index nrhs,
                           ApplyInverse<T> const& apply_inverse, MatrixOp op, Interrupt* interrupt = nullptr);

/// A componentwise backward error above this is worth refinement: some rows of the system, small ones beside
/// others, are hardly satisfied.
template <class T> inline double const largest_row_error = std::sqrt(static_cast<double>(epsilon<T>));

/// Refinement for the componentwise backward error (Skeel 1980): x += op(A)^-1 (b - op(A) x) for each column
/// with an error above largest_row_error, as long as each step halves this error, with residuals in twice the
/// working precision. Returns the largest number of steps that improved a column. Collective.
/// Error{cancelled} with x between two iterates.
template <class T> int refine_rows(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T> x,
                                   Index nrhs, ApplyInverse<T> const& apply_inverse, MatrixOp op,
                                   Interrupt* interrupt = nullptr);

} // namespace espalier
