// How many columns advance together, so that their vectors stay within a bound.
#pragma once

#include <algorithm>
#include <cstdint>

#include "espalier/types.hpp"

namespace espalier {

/// Memory for the vectors of the columns that advance together.
inline constexpr std::uint64_t group_bytes = std::uint64_t(256) << 20;

/// Columns of n entries of `scalar_bytes` that fit when each comes with so many vectors; at least one.
inline Index columns_in_group(Index n, Index vectors_per_column, std::size_t scalar_bytes) {
    std::uint64_t const vector_bytes = static_cast<std::uint64_t>(std::max<Index>(n, 1)) * scalar_bytes;
    std::uint64_t const vectors = group_bytes / vector_bytes;
    return std::max<Index>(1, static_cast<Index>(vectors) / vectors_per_column);
}

} // namespace espalier
