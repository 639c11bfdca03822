// The signs of the eigenvalues of a matrix and its determinant, from the pivots of a factorization. Kept
// cblks have no pivots, so with a Schur complement both are those of the eliminated block. Each process has
// the pivots of its own cblks.
#pragma once

#include "core/determinant_product.hpp"
#include "espalier/espalier.hpp"
#include "factor/factor.hpp"
#include "kernels/panel.hpp"

namespace espalier {

/// The range of the pivots of cblk k, or of this process, relative to the entries of `origin` by local
/// unknown (of Cholesky only), or to 1 if it is empty. A 2x2 pivot is as small as its determinant over its
/// largest entry. Relative to 0, a pivot is 0.
template <class T>
PivotRange pivot_range(Factor<T> const& factor, CblkId k, std::span<double const> origin = {});
template <class T> PivotRange pivot_range(Factor<T> const& factor, std::span<double const> origin);

/// The signs of the eigenvalues of D, which by Sylvester's law are those of the matrix. llh has only positive
/// ones. Replaced pivots, whose signs are those of rounding errors, count as zero. They are recognized by
/// their modulus, Factor::pivot_threshold(); an original pivot of exactly this modulus also counts as zero.
/// Error{usage} for lu, and for llt and ldlt of complex matrices, whose pivots have no sign.
template <class T> Inertia pivot_signs(Factor<T> const& factor);

/// Throws this Error{usage} for factors of a real or complex matrix.
[[noreturn]] void refuse_inertia(Factorization kind, bool of_complex);

/// The determinant of the matrix: the product of the pivots, including replaced ones, and of the signs of the
/// local row permutations of lu. (All other permutations are symmetric, and cancel.)
template <class T> DeterminantProduct pivot_product(Factor<T> const& factor);

} // namespace espalier
