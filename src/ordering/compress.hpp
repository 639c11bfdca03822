// Compression of indistinguishable vertices: v and w are merged when adj(v) + {v} = adj(w) + {w}. Several
// unknowns at one mesh node are the usual cause; the compressed graph of 3-dof elasticity has 3 times
// fewer vertices and 9 times fewer edges. Ashcraft 1995, "Compressed graphs and the minimum degree
// algorithm".
#pragma once

#include <utility>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

struct CompressedGraph {
    Graph graph; ///< One vertex a group, in the order of their first members; weight = rows in it.
    std::vector<Index>
        vertex_of_row; ///< For each vertex of the input (row of the matrix), its vertex in `graph`.
};

/// Linear in the edges (hashing, then exact comparison within equal hashes). Weights of the input are added
/// up within a group. When less than a tenth of the vertices would disappear the graph is returned as it is.
CompressedGraph compress(Graph const& graph);

/// The graph as it is, every vertex a group of its own: for orderings that are given by rows.
CompressedGraph uncompressed(Graph graph);

/// `graph` with the two vertices of each pair made one (pairs are disjoint), then compressed: rows that are to be
/// eliminated together stay together in every order. Near-linear.
CompressedGraph compress_with_pairs(Graph const& graph, std::vector<std::pair<Index, Index>> const& pairs);

} // namespace espalier
