// What the pivots of a finished factorization tell of the matrix: the signs of its eigenvalues and its
// determinant. Kept cblks have no pivots: with a Schur complement both are those of the eliminated block.
#pragma once

#include "factor/factor.hpp"

namespace espalier {

/// The pivots of all cblks, apart from their panels, which may be in several processes.
template <class T> struct Pivots {
    FactorForm form;
    Real<T> threshold = 0;          ///< Factor::pivot_threshold().
    std::vector<T> diagonal;        ///< By permuted column; of kept cblks meaningless.
    std::vector<T> off_diagonal;    ///< ldlt, ldlh: as Factor's.
    std::vector<std::int32_t> perm; ///< lu: as Factor's.
    BlockStructure const* structure = nullptr;
};

/// Those of the cblks whose panels are here; zeros for others.
template <class T> Pivots<T> pivots_of(Factor<T> const& factor);

struct PivotSigns {
    Index positive = 0;
    Index negative = 0;
    Index zero = 0; ///< Replaced pivots: their signs are those of rounding errors.
};

/// Signs of the eigenvalues of D, by Sylvester's law those of the matrix; llh has positive ones only.
/// Replaced pivots are known by their modulus, Factor::pivot_threshold(); one that was exactly that large by
/// itself counts as zero too. Error{usage} for lu, and for llt and ldlt of complex matrices, whose pivots
/// have no sign.
template <class T> PivotSigns pivot_signs(Pivots<T> const& pivots);
template <class T> PivotSigns pivot_signs(Factor<T> const& factor) {
    return pivot_signs(pivots_of(factor));
}

/// phase * exp(log_modulus), the product of the pivots, replaced ones as they are, and of the signs of the
/// local row permutations of lu: the determinant of the matrix. (All other permutations are symmetric, and
/// cancel.)
template <class T> struct PivotProduct {
    T phase = T(1); ///< Of modulus 1.
    double log_modulus = 0;
};
template <class T> PivotProduct<T> pivot_product(Pivots<T> const& pivots);
template <class T> PivotProduct<T> pivot_product(Factor<T> const& factor) {
    return pivot_product(pivots_of(factor));
}

} // namespace espalier
