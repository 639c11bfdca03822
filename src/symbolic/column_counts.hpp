// Column counts of the factor in time nearly linear in the edges of the graph, without forming the factor.
// Input: the lower pattern and its postordered elimination tree; output: the number of rows in the column of
// L of each vertex, and the resulting sizes. Gilbert, Ng, Peyton 1994, "An efficient algorithm to compute row
// and column counts for sparse Cholesky factorization".
#pragma once

#include <span>
#include <vector>

#include "symbolic/pattern.hpp"

namespace espalier {

struct ColumnCounts {
    std::vector<Index> count; ///< Rows in the structure of each vertex, including its own.
    Offset nnz = 0;           ///< Entries of L, diagonal included.
    double flops = 0;         ///< Sum of squared column counts.
    Index tree_height = 0;    ///< Columns on the longest path of the elimination tree.
};

/// Computes the counts. A vertex of weight w and count c represents columns with counts c, c - 1, ..., c - w
/// + 1. `parent` must be postordered. The last `kept` vertices, a chain after chain_last(), count as a
/// clique; nnz, flops and tree_height do not include them.
ColumnCounts column_counts(LowerPattern const& pattern, std::span<Vertex const> parent, Vertex kept = 0);

/// Number of entries of `width` dense columns of heights height, height - 1, ...
constexpr Offset trapezoid_entries(Index height, Index width) {
    return width * height - width * (width - 1) / 2;
}

/// Sum of the squared heights of these columns: w h^2 - h w (w - 1) + w (w - 1) (2 w - 1) / 6.
constexpr double trapezoid_flops(Index height, Index width) {
    auto const h = static_cast<double>(height);
    auto const w = static_cast<double>(width);
    return w * h * h - h * w * (w - 1) + w * (w - 1) * (2 * w - 1) / 6;
}

} // namespace espalier
