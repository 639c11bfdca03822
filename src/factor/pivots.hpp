// The signs of the eigenvalues of a matrix and its determinant, from the pivots of a factorization. Kept
// cblks have no pivots, so with a Schur complement both are those of the eliminated block.
#pragma once

#include "factor/factor.hpp"

namespace espalier {

/// The pivots of all cblks of a structure.
template <class T> struct Pivots {
    FactorForm form;
    Real<T> threshold = 0;          ///< Factor::pivot_threshold().
    std::vector<T> diagonal;        ///< By column of the structure; undefined for kept cblks.
    std::vector<T> off_diagonal;    ///< ldlt, ldlh: as in Factor.
    std::vector<std::int32_t> perm; ///< lu: as in Factor.
    BlockStructure const* structure = nullptr;
};

/// The pivots of the cblks that have panels in this process; zeros for ghosts.
template <class T> Pivots<T> pivots_of(Factor<T> const& factor);

struct PivotSigns {
    Index positive = 0;
    Index negative = 0;
    Index zero = 0; ///< Replaced pivots: their signs are those of rounding errors.
};

/// Signs of the eigenvalues of D (those that this process has), by Sylvester's law those of the matrix; llh
/// has positive ones only. Replaced pivots are known by their modulus, Factor::pivot_threshold(); one that
/// was exactly that large by itself counts as zero too. Error{usage} for lu, and for llt and ldlt of complex
/// matrices, whose pivots have no sign.
template <class T> PivotSigns pivot_signs(Pivots<T> const& pivots);
template <class T> PivotSigns pivot_signs(Factor<T> const& factor) {
    return pivot_signs(pivots_of(factor));
}

/// phase * exp(log_modulus), the product of the pivots (those that this process has), replaced ones as they
/// are, and of the signs of the local row permutations of lu: the determinant of the matrix. (All other
/// permutations are symmetric, and cancel.)
template <class T> struct PivotProduct {
    T phase = T(1); ///< Of modulus 1.
    double log_modulus = 0;
};
template <class T> PivotProduct<T> pivot_product(Pivots<T> const& pivots);
template <class T> PivotProduct<T> pivot_product(Factor<T> const& factor) {
    return pivot_product(pivots_of(factor));
}

} // namespace espalier
