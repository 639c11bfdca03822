// An undirected graph in adjacency form: what orderings work on. No self loops; each edge appears in the
// lists of both its ends; lists are sorted and without duplicates.
#pragma once

#include <vector>

#include "espalier/types.hpp"

namespace espalier {

struct Graph {
    Index num_vertices = 0;
    std::vector<Offset> ptr{0}; ///< num_vertices + 1 entries.
    std::vector<Index> adj;     ///< Neighbours of v: adj[ptr[v] .. ptr[v + 1]).
    std::vector<Index> weight;  ///< Matrix rows that a vertex stands for; empty when all are 1.

    [[nodiscard]] Index weight_of(Index v) const { return weight.empty() ? 1 : weight[v]; }
    [[nodiscard]] Offset degree(Index v) const { return ptr[v + 1] - ptr[v]; }
    [[nodiscard]] Offset num_edges() const { return ptr.back() / 2; }
};

} // namespace espalier
