// The factors as sparse matrices, for callers who look into them. The structure has zeros from amalgamation; entries
// that are exactly zero are left out.
#pragma once

#include <vector>

#include "espalier/espalier.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// The order of the pivots, which is that of the rows and columns of the factors. It differs from that of the structure
/// within cblks and by delayed columns. For each pivot:
struct PivotOrder {
    std::vector<Index> rows;    ///< the number of its row in the structure,
    std::vector<Index> columns; ///< that of its column, the same but for lu,
    std::vector<Index> results; ///< and the number at which the forward half of a solve leaves its result.
    std::vector<Index> first;   ///< For each cblk the place of its first pivot.
};
template <class T> PivotOrder pivot_order(Factor<T> const& factor);

/// The factors of the working system, with one process. `keeps_zeros`: L and U have all entries of the structure.
template <class T> Factors<T> explicit_factors(Factor<T> const& factor, bool keeps_zeros = false);

} // namespace espalier
