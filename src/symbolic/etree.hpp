// The elimination tree of a permuted graph, and postorders of forests. In: a graph and an order of its
// vertices. Out: parents, by new number. No step recurses, because trees may be as deep as they have nodes.
// Liu 1990, "The role of elimination trees in sparse factorization".
#pragma once

#include <span>
#include <vector>

#include "symbolic/pattern.hpp"

namespace espalier {

/// parent[j] = min{ i > j : L(i, j) != 0 }, or no_vertex for a root; vertices numbered by ordering.perm.
std::vector<Vertex> elimination_tree(Graph const& graph, Ordering const& ordering);

/// Makes a chain of the last `kept` vertices: the tree of the graph with an edge more between each of them
/// and the next. They then come last in every postorder; the tree of the others stays what it is.
void chain_last(std::span<Vertex> parent, Vertex kept);

/// The nodes of a forest, every subtree contiguous and its root last; siblings and roots in ascending
/// order. parent[j] > j is not required. result[k] is the k-th node visited.
std::vector<Vertex> postorder(std::span<Vertex const> parent);

/// The same, with siblings and roots visited in the order in which `sibling_order`, a permutation of all
/// nodes, lists them.
std::vector<Vertex> postorder(std::span<Vertex const> parent, std::span<Vertex const> sibling_order);

/// position[order[k]] = k.
std::vector<Vertex> positions_of(std::span<Vertex const> order);

/// The order that numbers k-th the vertex which `ordering` numbers post[k].
Ordering compose(Ordering const& ordering, std::span<Vertex const> post);

/// The forest `parent` with node post[k] renamed to k.
std::vector<Vertex> relabel_forest(std::span<Vertex const> parent, std::span<Vertex const> post);

} // namespace espalier
