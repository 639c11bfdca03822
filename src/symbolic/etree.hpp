// The elimination tree of a permuted graph, and postorders of forests. Input: a graph and an ordering of its
// vertices; output: parents by new number. Nothing recurses, because a tree may be as deep as its number of
// nodes. Liu 1990, "The role of elimination trees in sparse factorization".
#pragma once

#include <span>
#include <vector>

#include "symbolic/pattern.hpp"

namespace espalier {

/// parent[j] = min{ i > j : L(i, j) != 0 }, or no_vertex for a root. Vertices are numbered by ordering.perm.
std::vector<Vertex> elimination_tree(Graph const& graph, Ordering const& ordering);

/// Makes the last `kept` vertices a chain, as if consecutive ones were connected by edges. They then come
/// last in every postorder. The tree of the other vertices does not change.
void chain_last(std::span<Vertex> parent, Vertex kept);

/// A postorder of a forest: result[k] is the k-th node. Each subtree is contiguous and its root comes last;
/// siblings and roots ascend. parent[j] > j is not required.
std::vector<Vertex> postorder(std::span<Vertex const> parent);

/// A postorder of a forest with siblings and roots in the order of `sibling_order`, a permutation of all
/// nodes.
std::vector<Vertex> postorder(std::span<Vertex const> parent, std::span<Vertex const> sibling_order);

/// The ordering that gives number k to the vertex with number post[k] in `ordering`.
Ordering compose(Ordering const& ordering, std::span<Vertex const> post);

/// The forest `parent` with node post[k] renamed to k.
std::vector<Vertex> relabel_forest(std::span<Vertex const> parent, std::span<Vertex const> post);

} // namespace espalier
