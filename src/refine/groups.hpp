// The number of columns that advance together, which bounds the memory of their vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "distributed/distributed_rows.hpp"

namespace espalier {

/// The maximum memory of a process for the vectors of these columns.
inline constexpr Index group_bytes = Index(256) << 20;

/// The number of columns that fit if each needs `vectors` vectors of `scalar_bytes` for each row; at least 1.
/// Equal on all processes.
inline Index columns_in_group(DistributedRows const& rows, Index vectors_per_column,
                              std::size_t scalar_bytes) {
    Index const vector_bytes = std::max<Index>(rows.largest_share(), 1) * static_cast<Index>(scalar_bytes);
    return std::max<Index>(1, group_bytes / vector_bytes / vectors_per_column);
}

} // namespace espalier
