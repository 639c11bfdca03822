// Tests whether a matrix is singular to working precision, after a factorization with suspiciously small
// pivots.
//
// Inverse iteration with the factors, y := A^-1 y, converges to a null vector of the factors, and refinement
// of A y = 0 converts it to a null vector of A. If then
//     w = max_i |A y|_i / (|A| |y|)_i
// is of the order of rounding, some matrix within a relative change w of every entry of A is exactly singular
// (Oettli and Prager 1964). This certificate does not depend on scaling, and a well-posed system cannot have
// one. The order of 1/w is a lower bound of the componentwise condition number.
//
// If w is a few epsilon, the matrix may be a rounded singular matrix, or nonsingular but close to singular.
// The accuracy of the factors in that direction then decides: y^H A~^-1 A y / y^H y is 1 if they are
// accurate, and near 0 if A y is rounding error alone, as for a singular A.
#pragma once

#include <cmath>
#include <span>

#include "core/function_ref.hpp"
#include "core/interrupt.hpp"
#include "distributed/distributed_matrix.hpp"
#include "factor/pivots.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier {

struct WeakestDirection {
    double distance = 0;    ///< The smallest w of the iteration.
    double known = 0;       ///< |y^H A~^-1 A y| / y^H y, which is 1 for accurate factors.
    bool is_finite = false; ///< If not, the factors break down, and nothing is known about A.

    /// Whether A is singular to working precision: w is below 50 epsilon, and either within the rounding of
    /// the entries or not resolved by the factors.
    template <class T> [[nodiscard]] bool is_singular() const {
        auto const eps = static_cast<double>(epsilon<T>);
        if (!is_finite) return false;
        return distance <= eps || (distance <= 50 * eps && !(known > 0.5 && known < 1.5));
    }
};

/// Takes four solves. Collective.
template <class T>
WeakestDirection weakest_direction(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse);

/// Whether a column of x is so large, |A| |x| > max(|b|, |op(A) x|) / (100 epsilon) in infinity norms and
/// largest entries, that the rounding of x alone makes op(A) x differ from b. For a well-scaled matrix this
/// is a sign of singularity. If x has a small backward error (`is_solution`), op(A) x does not count. Columns
/// whose b or x is not finite do not count. Collective.
template <class T> bool grows_as_singular(DistributedMatrix<T> const& a, std::span<T const> b,
                                          std::span<T const> x, Index nrhs, MatrixOp op,
                                          bool is_solution = false);

/// Whether the residual of a column exceeds a hundredth of b, which is not the rounding of A or b.
/// Collective.
template <class T> bool leaves_a_residual(DistributedMatrix<T> const& a, std::span<T const> b,
                                          std::span<T const> x, Index nrhs, MatrixOp op);

/// Tests growth for a random right-hand side, solved and refined with at most 50 iterations.
/// weakest_direction() may miss null vectors whose entries differ greatly in size, but a random right-hand
/// side almost always has a component along them. Collective.
template <class T> bool probe_grows_as_singular(DistributedMatrix<T> const& a,
                                                ApplyInverse<T> const& apply_inverse, Interrupt* interrupt);

/// The result of find_singularity().
struct Singularity {
    /// A lower bound of the componentwise condition number; 0 if not computed.
    double condition_estimate = 0;
    bool is_singular = false; ///< To working precision.
    /// Solutions are not unique, because pivots of such a matrix were replaced, or a solution shows it.
    bool lacks_unique_solutions = false;
};

/// Tests for singularity by weakest_direction(), and for factors with replaced pivots also by
/// probe_grows_as_singular(). Collective.
template <class T> Singularity find_singularity(DistributedMatrix<T> const& a,
                                                ApplyInverse<T> const& apply_inverse, Index pivots_replaced,
                                                Interrupt* interrupt);

/// A relative pivot up to this size may be one of a singular matrix.
inline double largest_suspicious_pivot(double roundoff) {
    return 0.01 * std::sqrt(roundoff);
}

/// The range of the pivots of a factor of `b` relative to their origin: the diagonal entry for Cholesky, and
/// the largest entry of the matrix otherwise. For Cholesky, diagonal entries are read only if they can
/// matter: if the smallest pivot relative to the largest entry is above `enough`, it is even larger relative
/// to its diagonal entry, and the range is relative to the largest entry. `own` is the pivot_range() of this
/// process without origin, and own_from(origin) that with one. Collective.
template <class T>
PivotRange relative_pivots(DistributedMatrix<T> const& b, bool cholesky, double enough, PivotRange const& own,
                           FunctionRef<PivotRange(std::span<double const> origin)> own_from);

/// Errors of a solution in maximum norms; infinite if it is not finite.
struct FactorErrors {
    double backward = 0; ///< |A y - b| / (|A| |y| + |b|).
    double forward = 0;  ///< |y - x| / |x|.
};

/// The errors of the solution y that the factors give for the right-hand side b = A x of a random x. If the
/// factors are those of A + E, the forward error is that of A^-1 E in a random direction. The relative error
/// of the determinant is of this order times the rank of E, and signs of pivots are right as long as it is
/// small. Takes one solve. Collective.
template <class T>
FactorErrors errors_of_factors(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse);

} // namespace espalier
