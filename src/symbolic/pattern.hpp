// The strictly lower triangle of the permuted graph by columns.
//
// All steps before the block structure work on the vertices of the compressed graph. The lists of vertices
// are by far the largest arrays of the analysis, so they have 32-bit entries; larger graphs are rejected.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph.hpp"
#include "ordering/ordering.hpp"

namespace espalier {

using Vertex = std::int32_t; ///< A vertex of the compressed graph.
inline constexpr Vertex no_vertex = -1;

struct LowerPattern {
    std::vector<Offset> ptr{0}; ///< num_vertices() + 1 entries.
    std::vector<Vertex> rows;   ///< Neighbors i > j of j, ascending: rows[ptr[j] .. ptr[j + 1]).
    std::vector<Index> weight;  ///< Number of matrix rows of each vertex; never empty.

    [[nodiscard]] Vertex num_vertices() const { return static_cast<Vertex>(weight.size()); }
    [[nodiscard]] std::span<Vertex const> below(Vertex j) const {
        return {rows.data() + ptr[j], rows.data() + ptr[j + 1]};
    }
};

/// The pattern of `graph` in the numbering ordering.perm, in linear time.
LowerPattern lower_pattern(Graph const& graph, Ordering const& ordering);

} // namespace espalier
