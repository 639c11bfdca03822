// The signs of the eigenvalues of a matrix and its determinant, from the pivots of a factorization. Kept
// cblks have no pivots, so with a Schur complement both are those of the eliminated block. Each process has
// the pivots of its own cblks.
#pragma once

#include "espalier/espalier.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// The pivots of this process in the order of the cblks and, within each, of the elimination.
template <class T> struct Pivots {
    std::vector<T> diagonal;
    std::vector<T> off_diagonal; ///< ldlt, ldlh: as in Factor.
};
template <class T> Pivots<T> pivots_of(Factor<T> const& factor);

/// Whether a permutation is odd.
bool is_odd(std::span<std::int32_t const> perm);

/// The signs of the eigenvalues of D, which by Sylvester's law are those of the matrix. llh has only positive
/// ones. Replaced pivots, whose signs are those of rounding errors, count as zero. They are recognized by
/// their modulus, Factor::pivot_threshold(); an original pivot of exactly this modulus also counts as zero.
/// Error{usage} for lu, and for llt and ldlt of complex matrices, whose pivots have no sign.
template <class T> Inertia pivot_signs(Factor<T> const& factor);

/// The determinant of the matrix: the product of the pivots, including replaced ones, and of the signs of the
/// local row permutations of lu. (All other permutations are symmetric, and cancel.)
template <class T> Determinant<T> pivot_product(Factor<T> const& factor);

} // namespace espalier
