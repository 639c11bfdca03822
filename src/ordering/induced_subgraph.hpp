// Subgraphs of some vertices of a graph.
#pragma once

#include <span>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// The vertices `vertices` (distinct, ascending) of a graph, renumbered from 0, with their weights and the
/// edges between them. Takes time linear in all vertices and the edges of `vertices`.
Graph induced_subgraph(Graph const& graph, std::span<Index const> vertices);
/// Like the function above, in time linear in `vertices` and their edges. `number` has an entry -1 for each
/// vertex, before and after the call.
Graph induced_subgraph(Graph const& graph, std::span<Index const> vertices, std::vector<Index>& number);

} // namespace espalier
