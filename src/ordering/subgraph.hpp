// Subgraphs induced by a set of vertices.
#pragma once

#include <span>

#include "core/graph.hpp"

namespace espalier {

/// The vertices `vertices` (distinct, ascending) of a graph, renumbered from 0, with their weights and the
/// edges between them. Takes time linear in all vertices and the edges of `vertices`.
Graph induced_subgraph(Graph const& graph, std::span<Index const> vertices);

} // namespace espalier
