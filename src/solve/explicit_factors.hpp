// The factors as sparse matrices. The structure has zeros from amalgamation; entries that are exactly zero
// are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/espalier.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// The order of the pivots, which is that of the rows and columns of the factors. It differs from that of the
/// structure within cblks and by delayed columns. The vectors have for each pivot:
struct PivotOrder {
    std::vector<Index> rows;    ///< the number of its row in the structure,
    std::vector<Index> columns; ///< the number of its column, equal except for lu,
    std::vector<Index> results; ///< and the number at which the forward half of a solve stores its result.
    std::vector<Index> first;   ///< For each cblk, the position of its first pivot.
};
template <class T> PivotOrder pivot_order(Factor<T> const& factor);

/// Bytes that explicit_factors() allocates at most.
template <class T> std::uint64_t explicit_factor_bytes(Factor<T> const& factor);
/// Returns the factors of the working system, with one process. With `keeps_zeros`, L and U have all entries
/// of the structure.
template <class T> Factors<T> explicit_factors(Factor<T> const& factor, bool keeps_zeros = false);

} // namespace espalier
