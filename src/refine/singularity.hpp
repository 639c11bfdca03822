// Is a matrix singular to working precision? Asked after a factorization whose pivots make one wonder.
//
// Inverse iteration with the factors, y := A^-1 y, turns any start towards a null vector of theirs, and steps
// of refinement of A y = 0 make it one of A. If then
//     w = max_i |A y|_i / (|A| |y|)_i
// is of the order of rounding, some matrix within a relative change w of every entry of A is exactly
// singular (Oettli and Prager 1964): a certificate that does not depend on scaling, and that no well-posed
// system can give. 1/w is a lower bound on the order of its componentwise condition number.
//
// A w of a few epsilon leaves open whether the matrix is the rounded image of a singular one or a regular one
// at the edge. Then it counts how well the factors know it in that direction: y^H A~^-1 A y / y^H y is 1
// where they do, and near 0 where A y is nothing but rounding, as it is where A is singular.
#pragma once

#include "core/interrupt.hpp"
#include "espalier/matrix.hpp"
#include "factor/pivots.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier {

struct WeakestDirection {
    double distance = 0; ///< The smallest w on the way; 0 when the factors break down.
    double known = 0;    ///< |y^H A~^-1 A y| / y^H y, where that is meant to be 1.

    /// Singular to working precision: w below 50 epsilon, and either within the rounding of its entries or
    /// unknown to the factors.
    template <class T> [[nodiscard]] bool is_singular() const {
        auto const eps = static_cast<double>(epsilon<T>);
        return distance <= eps || (distance <= 50 * eps && !(known > 0.5 && known < 1.5));
    }
};

/// Four solves.
template <class T>
WeakestDirection weakest_direction(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse);

/// Some column of x is so large, |A| |x| > |b| / (100 epsilon) in infinity norms and largest entries, that
/// the rounding of x alone keeps A x away from b: of a matrix in good scale, a sign of singularity. Columns
/// whose b is not finite do not count.
template <class T>
bool grows_as_singular(CscMatrix<T> const& a, std::span<T const> b, std::span<T const> x, Index nrhs);

/// The same for a random right-hand side, solved and refined with at most 50 iterations. The null
/// vectors of a singular matrix may hide from weakest_direction() among entries of very different size;
/// hardly any right-hand side is without a part in them.
template <class T> bool probe_grows_as_singular(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse,
                                                Interrupt* interrupt);

/// Smallest pivot of the factor of `b`, relative to what it started from: the diagonal entry for Cholesky,
/// the largest entry of the matrix otherwise. Of eliminated unknowns only.
template <class T> double smallest_relative_pivot(CscMatrix<T> const& b, Pivots<T> const& pivots);

} // namespace espalier
