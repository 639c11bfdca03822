// How many columns advance together, so that their vectors stay within a bound.
#pragma once

#include <algorithm>
#include <cstdint>

#include "distributed/distributed_rows.hpp"

namespace espalier {

/// Memory of a process for the vectors of the columns that advance together.
inline constexpr Index group_bytes = Index(256) << 20;

/// Columns whose vectors of `scalar_bytes` for each row fit when each column comes with so many vectors; at
/// least one. The same on all processes.
inline Index columns_in_group(DistributedRows const& rows, Index vectors_per_column,
                              std::size_t scalar_bytes) {
    Index const vector_bytes = std::max<Index>(rows.largest_share(), 1) * static_cast<Index>(scalar_bytes);
    return std::max<Index>(1, group_bytes / vector_bytes / vectors_per_column);
}

} // namespace espalier
