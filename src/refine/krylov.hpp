// Refinement methods for op(A) X = B with the current factorization as preconditioner M. The columns of a
// block advance in lock step, so a step costs one blocked solve and one message for each kind of inner
// product. Each column has its own recurrence and stopping test, and columns that have stopped leave the
// block.
//
//   iterative_refinement   x += M^-1 (b - A x) (Skeel 1980)
//   gmres                  right-preconditioned GMRES(m), classical Gram-Schmidt with a second pass if it is
//   needed
//                          (Saad, Schultz 1986; Daniel, Gragg, Kaufman, Stewart 1976; Giraud, Langou,
//                          Rozloznik, van den Eshof 2005)
//   conjugate_gradients    preconditioned, Hermitian A and M (Hestenes, Stiefel 1952)
//   bicgstab               right-preconditioned BiCGSTAB (van der Vorst 1992)
//
// A Krylov method is used if iterative refinement does not converge. With k replaced pivots A M^-1 is a
// perturbation of the identity of rank k, for which GMRES needs about k steps.
#pragma once

#include <algorithm>
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
    double matrix_norm = 0;     ///< |op(A)|, infinity norm.
    double target = 0;          ///< Normwise backward error at which to stop.
    int max_iterations = 0;     ///< Products with A M^-1 (bicgstab: pairs of them) of each column.
    int restart = 50;           ///< m of GMRES(m).
    bool is_incomplete = false; ///< Whether the inverse is that of incomplete factors.
    Interrupt* interrupt = nullptr;

    [[nodiscard]] DistributedRows const& rows() const { return a.rows(); }
    /// Number of local rows.
    [[nodiscard]] Index n() const { return a.rows().count(); }
    [[nodiscard]] RowWorkers const& workers() const { return a.rows().workers(); }
    /// Block := op(A)^-1 block, as accurately as the factors are.
    void solve(PackedColumns<T>& block, Index columns) const {
        if (columns > 0) apply_inverse(block.first(columns), columns, op);
    }
    /// Y = op(A) X.
    void product(PackedColumns<T>& x, PackedColumns<T>& y, Index columns) const {
        if (columns > 0) a.multiply(op, T(1), x.first(columns), T(0), y.first(columns), columns);
    }
    /// R := R - op(A) X, where R contains B, and computes the backward errors of X.
    void measure(PackedColumns<T>& x, PackedColumns<T>& r, std::span<double const> b_norms,
                 std::span<double> errors) const {
        auto const columns = std::ssize(errors);
        if (columns == 0) return;
        a.multiply(op, T(-1), x.first(columns), T(1), r.first(columns), columns);
        auto const norms = rows().reduction().max(2 * columns, [&](std::span<double> largest) {
            check(interrupt);
            for (Index c = 0; c < columns; ++c) {
                largest[2 * c] = infinity_norm<T>(workers(), r.column(c));
                largest[2 * c + 1] = infinity_norm<T>(workers(), x.column(c));
            }
        });
        for (Index c = 0; c < columns; ++c)
            errors[c] = normwise_backward_error(matrix_norm, norms[2 * c], norms[2 * c + 1], b_norms[c]);
    }
    /// Sums over all processes for several columns. fill(k) is the contribution of this process to the k-th
    /// sum.
    template <class Part> std::span<Wide<T> const> sum(Index count, Part const& part) const {
        return rows().reduction().template sum<Wide<T>>(count, [&](std::span<Wide<T>> sums) {
            check(interrupt);
            for (Index k = 0; k < count; ++k) sums[k] = Wide<T>(part(k));
        });
    }
};

/// The local rows of a right-hand side during refinement.
template <class T> struct KrylovColumn {
    std::span<T const> b;
    std::span<T> x;    ///< The initial guess, then the best iterate.
    double b_norm = 0; ///< Infinity norm of all of b.
    /// Normwise backward errors after each iteration, as estimated by the method.
    std::vector<double> errors;
};

/// An x with a backward error above this is a worse start than zero, and its size says nothing about the size
/// of the solution.
inline constexpr double largest_useful_error = 1e-3;
/// An x from incomplete factors with a residual above this, relative to b, is a worse start than zero.
inline constexpr double largest_useful_residual = 1e3;

/// The common part of the Krylov methods: the states of all columns, the columns that still iterate, and the
/// blocks in which they advance. A State has column() and active().
template <class T, class State> class KrylovBlock {
  protected:
    /// Computes the residuals of the first x in the image, and their backward errors in errors_. Sets an x
    /// that is worse than a guess to zero. Incomplete factors may give an x so large that its backward error
    /// is small but cancellation spoils all later iterates.
    KrylovBlock(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) : problem_(problem) {
        auto const count = std::ssize(columns);
        problem.rows().reduction().all_succeed([&] {
            block_ = PackedColumns<T>(problem.n(), count);
            image_ = PackedColumns<T>(problem.n(), count);
            errors_.resize(count);
            b_norms_.resize(count);
            lengths_.resize(count);
            states_.reserve(count);
            active_.reserve(count);
            beginning_.reserve(count);
            for (auto& column : columns) active_.push_back(&states_.emplace_back(problem, column));
        });
        beginning_ = active_;
        measure_best();
        auto const residuals = problem.rows().reduction().max(count, [&](std::span<double> largest) {
            for (Index c = 0; c < count; ++c)
                largest[c] = infinity_norm<T>(problem.workers(), image_.column(c));
        });
        bool all_are_good = true;
        for (Index c = 0; c < count; ++c) {
            bool const is_small =
                !problem.is_incomplete || residuals[c] <= largest_useful_residual * b_norms_[c];
            if (is_small && errors_[c] < largest_useful_error) continue;
            std::ranges::fill(columns[c].x, T(0));
            all_are_good = false;
        }
        if (!all_are_good) measure_best();
    }

    /// Computes the residuals of the vectors in the block, which belong to the states that begin, in the
    /// image, and their backward errors.
    void measure() {
        auto const count = std::ssize(beginning_);
        for (Index c = 0; c < count; ++c) {
            image_.put(problem_.workers(), c, beginning_[c]->column().b);
            b_norms_[c] = beginning_[c]->column().b_norm;
        }
        problem_.measure(block_, image_, b_norms_, std::span(errors_).first(count));
    }
    /// Measures the best x of each state, like measure().
    void measure_best() {
        for (Index c = 0; c < std::ssize(beginning_); ++c)
            block_.put(problem_.workers(), c, beginning_[c]->column().x);
        measure();
    }
    void drop_inactive() {
        std::erase_if(active_, [](State const* state) { return !state->active(); });
    }

    KrylovProblem<T> const& problem_;
    std::vector<State> states_;
    std::vector<State*> active_;
    std::vector<State*> beginning_; ///< States that restart from their best x.
    PackedColumns<T> block_, image_;
    std::vector<double> errors_, b_norms_;
    std::vector<Real<T>> lengths_;
};

/// Each method improves the x of the columns in place. Krylov methods start from zero if x is worse than a
/// guess. If a method breaks down or does not converge, x may be worse than before, so the caller must keep a
/// copy. A column with a NaN or infinity stops. Collective. Error{cancelled}.
template <class T>
void iterative_refinement(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T> void gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T>
void conjugate_gradients(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T> void bicgstab(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);

} // namespace espalier
