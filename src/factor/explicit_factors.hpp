// The factors as sparse matrices, for callers who look into them. The structure has zeros from amalgamation; entries
// that are exactly zero are left out.
#pragma once

#include <vector>

#include "espalier/espalier.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// For each row of the factors the row of the vectors (of the working system) that it belongs to: in the order of the
/// pivots, which differs from that of the structure within cblks. The columns are in the same order, but for lu in that
/// of the structure. Without delayed columns.
template <class T> std::vector<Index> pivot_order(Factor<T> const& factor);

/// The factors of the working system, with one process. Error{unsupported} if columns are delayed.
template <class T> Factors<T> explicit_factors(Factor<T> const& factor);

} // namespace espalier
