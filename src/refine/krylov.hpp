// Refinement methods for op(A) X = B with the factorization at hand as M. The columns of a block advance in
// lock step, so that a step costs one blocked solve: each has its own recurrence and stops by itself, and
// those that have stopped are no longer in the block.
//
//   iterative_refinement   x += M^-1 (b - A x) (Skeel 1980)
//   gmres                  right-preconditioned GMRES(m), classical Gram-Schmidt twice (Saad, Schultz 1986;
//                          Giraud, Langou, Rozloznik, van den Eshof 2005)
//   conjugate_gradients    preconditioned, Hermitian A and M (Hestenes, Stiefel 1952)
//   bicgstab               right-preconditioned BiCGSTAB (van der Vorst 1992)
//
// Krylov methods are asked for when plain refinement does not converge: replaced pivots make A M^-1 a
// low-rank perturbation of the identity, which GMRES resolves in about that many steps.
#pragma once

#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "matrix/spmv.hpp"
#include "refine/apply_inverse.hpp"
#include "refine/vectors.hpp"

namespace espalier {

template <class T> struct KrylovProblem {
    CscMatrix<T> const& a;
    ApplyInverse<T> const& apply_inverse;
    MatrixOp op = MatrixOp::none;
    double matrix_norm = 0; ///< |op(A)|, infinity norm.
    double target = 0;      ///< Normwise backward error at which to stop.
    int max_iterations = 0; ///< Products with A M^-1 (bicgstab: pairs of them) of each column.
    int restart = 50;       ///< m of GMRES(m).
    Interrupt* interrupt = nullptr;

    [[nodiscard]] std::size_t n() const { return static_cast<std::size_t>(a.cols); }
    /// Block := op(A)^-1 block, as the factors have it.
    void solve(std::span<T> block) const {
        check(interrupt);
        if (block.empty()) return;
        apply_inverse(block, columns_of(block), op);
    }
    /// Y = op(A) X.
    void product(std::span<T const> x, std::span<T> y) const {
        multiply<T>(op, T(1), a, x, T(0), y, columns_of(x));
    }

  private:
    [[nodiscard]] Index columns_of(std::span<T const> block) const {
        return static_cast<Index>(block.size() / n());
    }
};

/// A right-hand side on its way: where to begin, and where the method has come.
template <class T> struct KrylovColumn {
    std::span<T const> b;
    std::span<T> x;
    std::vector<double> errors; ///< Normwise backward errors after each iteration, as the method knows them.
};

/// Each improves the x of the columns in place; iterative_refinement from where it is, the Krylov methods
/// from zero where that is worse than a guess. An x may be worse than on entry when a method breaks down or
/// does not converge, so the caller keeps a copy. A NaN or Inf ends a column. The order is at least 1.
/// Error{cancelled}.
template <class T>
void iterative_refinement(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T> void gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T>
void conjugate_gradients(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);
template <class T> void bicgstab(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns);

/// x with a backward error above this is worse than a guess, and its size says nothing about the solution's.
inline constexpr double worse_than_a_guess = 1e-3;

} // namespace espalier
