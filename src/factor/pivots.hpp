// What the pivots of a finished factorization tell of the matrix: the signs of its eigenvalues and its
// determinant. Kept cblks have no pivots: with a Schur complement both are those of the eliminated block.
#pragma once

#include "factor/factor.hpp"

namespace espalier {

struct PivotSigns {
    Index positive = 0;
    Index negative = 0;
    Index zero = 0; ///< Replaced pivots: their signs are those of rounding errors.
};

/// Signs of the eigenvalues of D, by Sylvester's law those of the matrix; llh has positive ones only.
/// Replaced pivots are known by their modulus, Factor::pivot_threshold(); one that was exactly that large by
/// itself counts as zero too. Error{usage} for lu, and for llt and ldlt of complex matrices, whose pivots
/// have no sign.
template <class T> PivotSigns pivot_signs(Factor<T> const& factor);

/// phase * exp(log_modulus), the product of the pivots, replaced ones as they are, and of the signs of the
/// local row permutations of lu: the determinant of the matrix. (All other permutations are symmetric, and
/// cancel.)
template <class T> struct PivotProduct {
    T phase = T(1); ///< Of modulus 1.
    double log_modulus = 0;
};
template <class T> PivotProduct<T> pivot_product(Factor<T> const& factor);

} // namespace espalier
