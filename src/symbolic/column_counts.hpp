// Column counts of the factor without forming it, in nearly linear time in the edges of the graph. In: the
// lower pattern and its elimination tree, postordered. Out: for each vertex the rows in its column of L, and
// the sizes that follow from them. Gilbert, Ng, Peyton 1994, "An efficient algorithm to compute row and
// column counts for sparse Cholesky factorization".
#pragma once

#include <span>
#include <vector>

#include "symbolic/pattern.hpp"

namespace espalier {

struct ColumnCounts {
    std::vector<Index> count; ///< Rows in the structure of each vertex, its own included.
    Offset nnz = 0;           ///< Entries of L, diagonal included.
    double flops = 0;         ///< Sum of squared column counts.
    Index tree_height = 0;    ///< Columns on the longest path of the elimination tree.
};

/// A vertex of weight w and count c stands for columns of counts c, c - 1, ..., c - w + 1. `parent` must be
/// postordered. The last `kept` vertices, made a chain by chain_last, count as a clique; nnz, flops and
/// tree_height are of the others alone.
ColumnCounts column_counts(LowerPattern const& pattern, std::span<Vertex const> parent, Vertex kept = 0);

/// Entries of `width` dense columns of heights height, height - 1, ...
constexpr Offset trapezoid_entries(Index height, Index width) {
    return width * height - width * (width - 1) / 2;
}

/// Sum of the squared heights of the same columns: w h^2 - h w (w - 1) + w (w - 1) (2 w - 1) / 6.
constexpr double trapezoid_flops(Index height, Index width) {
    auto const h = static_cast<double>(height);
    auto const w = static_cast<double>(width);
    return w * h * h - h * w * (w - 1) + w * (w - 1) * (2 * w - 1) / 6;
}

} // namespace espalier
