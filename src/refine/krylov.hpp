// Krylov methods for one right-hand side, preconditioned by the factorization at hand. They go on from the
// x they are given, and are asked for when plain refinement does not converge: replaced pivots make A M^-1 a
// low-rank perturbation of the identity, which GMRES resolves in about that many steps.
//
//   gmres      right-preconditioned GMRES(m), modified Gram-Schmidt (Saad, Schultz 1986)
//   cg         preconditioned conjugate gradients, Hermitian positive definite A and M (Hestenes, Stiefel
//   1952) bicgstab   right-preconditioned BiCGSTAB (van der Vorst 1992)
#pragma once

#include <functional>
#include <span>

#include "espalier/matrix.hpp"

namespace espalier {

/// Overwrites `columns` vectors with A^-1 (as the factors have it) times them.
template <class T> using ApplyInverse = std::function<void(std::span<T>, Index columns)>;

template <class T> struct KrylovProblem {
    CscMatrix<T> const& a;
    ApplyInverse<T> const& apply_inverse;
    double matrix_norm = 0; ///< |A|, infinity norm.
    double target = 0;      ///< Normwise backward error at which to stop.
    int max_iterations = 0; ///< Products with A M^-1.
    int restart = 50;       ///< m of GMRES(m).
};

/// Each returns the iterations done. x is improved in place; it may be worse than on entry when the method
/// breaks down or does not converge, so the caller keeps a copy.
template <class T> int gmres(KrylovProblem<T> const& problem, std::span<T const> b, std::span<T> x);
template <class T>
int conjugate_gradients(KrylovProblem<T> const& problem, std::span<T const> b, std::span<T> x);
template <class T> int bicgstab(KrylovProblem<T> const& problem, std::span<T const> b, std::span<T> x);

} // namespace espalier
