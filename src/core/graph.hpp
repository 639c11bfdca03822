// Undirected graphs in adjacency form, the input of orderings. A graph has no self loops; each edge appears
// in the lists of both its ends; lists ascend without duplicates.
#pragma once

#include <span>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

struct Graph {
    Index num_vertices = 0;     ///< Number of vertices.
    std::vector<Offset> ptr{0}; ///< num_vertices + 1 entries.
    std::vector<Index> adj;     ///< The neighbors of v are adj[ptr[v] .. ptr[v + 1]).
    std::vector<Index> weight;  ///< Number of matrix rows that each vertex represents; empty if all are 1.

    [[nodiscard]] std::span<Index const> neighbors(Index v) const {
        return {adj.data() + ptr[v], adj.data() + ptr[v + 1]};
    }
    /// Number of matrix rows that v represents.
    [[nodiscard]] Index weight_of(Index v) const { return weight.empty() ? 1 : weight[v]; }
    [[nodiscard]] Offset degree(Index v) const { return ptr[v + 1] - ptr[v]; }
};

} // namespace espalier
