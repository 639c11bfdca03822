// Vertices that are neighbors are close in memory if their numbers are close, so that passes over a graph
// use the caches. Mesh generators often number vertices of edges after those of corners, far from them.
#pragma once

#include <span>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// Whether the numbers of neighbors differ by more than a twentieth of all on average, in a graph that is
/// larger than the caches.
bool is_scattered(Graph const& graph);

/// The vertices in the order of breadth-first searches.
std::vector<Index> breadth_first_order(Graph const& graph);

/// The graph whose vertex k is vertex_at[k] of the given one. `vertex_at` is a permutation, `number` its
/// inverse.
Graph renumbered(Graph const& graph, std::span<Index const> vertex_at, std::span<Index const> number);

} // namespace espalier
