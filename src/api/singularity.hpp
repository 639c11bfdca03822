// Is a matrix singular to working precision? Asked after a factorization whose pivots make one wonder.
//
// Inverse iteration with the factors, y := A^-1 y, turns any start towards a null vector of theirs, and steps
// of refinement of A y = 0 make it one of A. If then
//     w = max_i |A y|_i / (|A| |y|)_i
// is of the order of rounding, some matrix within a relative change w of every entry of A is exactly
// singular (Oettli and Prager 1964): a certificate that does not depend on scaling, and that no well-posed
// system can give. 1/w is a lower bound on the order of its componentwise condition number.
#pragma once

#include "espalier/matrix.hpp"
#include "factor/factor.hpp"
#include "refine/krylov.hpp"

namespace espalier {

/// The smallest w on the way (four solves); 0 when the factors break down.
template <class T>
double distance_to_singularity(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse);

/// w below which a matrix counts as singular to working precision.
template <class T> constexpr double singular_distance() {
    return 50 * static_cast<double>(epsilon<T>);
}

/// Smallest pivot of the factor of `b`, relative to what it started from: the diagonal entry for Cholesky,
/// the largest entry of the matrix otherwise.
template <class T> double smallest_relative_pivot(CscMatrix<T> const& b, Factor<T> const& factor);

} // namespace espalier
