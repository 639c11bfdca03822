// Refinement methods for op(A) X = B with the factorization at hand as M. The columns of a block advance in
// lock step, so that a step costs one blocked solve and one message for each kind of inner product: each
// column has its own recurrence and stops by itself, and columns that have stopped leave the block.
//
//   iterative_refinement   x += M^-1 (b - A x) (Skeel 1980)
//   gmres                  right-preconditioned GMRES(m), classical Gram-Schmidt twice (Saad, Schultz 1986;
//                          Giraud, Langou, Rozloznik, van den Eshof 2005)
//   conjugate_gradients    preconditioned, Hermitian A and M (Hestenes, Stiefel 1952)
//   bicgstab               right-preconditioned BiCGSTAB (van der Vorst 1992)
//
// Krylov methods follow where plain refinement does not converge: replaced pivots make A M^-1 a low-rank
// perturbation of the identity, which GMRES resolves in about that many steps.
#pragma once

#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "distributed/backward_error.hpp"
#include "distributed/distributed_matrix.hpp"
#include "matrix/norms.hpp"
#include "refine/apply_inverse.hpp"
#include "refine/vectors.hpp"

namespace espalier {

template <class T> struct KrylovProblem {
    DistributedMatrix<T> const& a;
    ApplyInverse<T> const& apply_inverse;
    MatrixOp op = MatrixOp::none;
    double matrix_norm = 0; ///< |op(A)|, infinity norm.
    double target = 0;      ///< Normwise backward error at which to stop.
    int max_iterations = 0; ///< Products with A M^-1 (bicgstab: pairs of them) of each column.
    int restart = 50;       ///< m of GMRES(m).
    Interrupt* interrupt = nullptr;

    [[nodiscard]] DistributedRows const& rows() const { return a.rows(); }
    /// Number of local rows.
    [[nodiscard]] Index n() const { return a.rows().count(); }
    /// Block := op(A)^-1 block, as the factors have it.
    void solve(PackedColumns<T>& block, Index columns) const {
        if (columns > 0) apply_inverse(block.first(columns), columns, op);
    }
    /// Y = op(A) X.
    void product(PackedColumns<T>& x, PackedColumns<T>& y, Index columns) const {
        if (columns > 0) a.multiply(op, T(1), x.first(columns), T(0), y.first(columns), columns);
    }
    /// R := R - op(A) X, where R holds B, and the backward errors of X.
    void measure(PackedColumns<T>& x, PackedColumns<T>& r, std::span<double const> b_norms,
                 std::span<double> errors) const {
        auto const columns = std::ssize(errors);
        if (columns == 0) return;
        a.multiply(op, T(-1), x.first(columns), T(1), r.first(columns), columns);
        auto const norms = rows().reduction().max(2 * columns, [&](std::span<double> largest) {
            check(interrupt);
            for (Index c = 0; c < columns; ++c) {
                largest[2 * c] = infinity_norm<T>(std::span<T const>(r.column(c)));
                largest[2 * c + 1] = infinity_norm<T>(std::span<T const>(x.column(c)));
            }
        });
        for (Index c = 0; c < columns; ++c)
            errors[c] = normwise_backward_error(matrix_norm, norms[2 * c], norms[2 * c + 1], b_norms[c]);
    }
    /// Sums over the local rows of several columns, of all processes: fill(k) is the part of this process in
    /// the k-th.
    template <class Part> std::span<Wide<T> const> sum(Index count, Part const& part) const {
        return rows().reduction().template sum<Wide<T>>(count, [&](std::span<Wide<T>> sums) {
            check(interrupt);
            for (Index k = 0; k < count; ++k) sums[k] = Wide<T>(part(k));
        });
    }
};

/// A right-hand side during refinement: its local rows.
template <class T> struct KrylovColumn {
    std::span<T const> b;
    std::span<T> x;             ///< Where to begin; the best iterate so far.
    double b_norm = 0;          ///< Infinity norm of all of b.
    std::vector<double> errors; ///< Normwise backward errors after each iteration, as the method knows them.
};

/// Each improves the x of the columns in place; iterative_refinement from where it is, the Krylov methods
/// from zero where that is worse than a guess. An x may be worse than on entry when a method breaks down or
/// does not converge, so the caller keeps a copy. A NaN or Inf ends a column. Collective. Error{cancelled}.
template <class T>
void iterative_refinement(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T> void gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T>
void conjugate_gradients(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T> void bicgstab(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);

/// x with a backward error above this is worse than a guess, and its size says nothing about the solution's.
inline constexpr double worse_than_a_guess = 1e-3;

} // namespace espalier
