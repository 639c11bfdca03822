// Compression of indistinguishable vertices: v and w are merged when adj(v) + {v} = adj(w) + {w}. Several
// unknowns at one mesh node are the usual cause; the compressed graph of 3-dof elasticity has 3 times
// fewer vertices and 9 times fewer edges. Ashcraft 1995, "Compressed graphs and the minimum degree
// algorithm".
#pragma once

#include <span>
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

/// Pairs of vertices, no vertex in two of them.
using VertexPairs = std::vector<std::pair<Index, Index>>;

/// `graph` with the two vertices of each pair made one, then compressed: rows that are to be eliminated
/// together stay together in every order. Near-linear.
CompressedGraph compress_with_pairs(Graph const& graph, VertexPairs const& pairs);

/// A graph some of whose vertices every order has to number last (order_with_last in constrained.hpp): the
/// unknowns of a Schur complement, which is dense whatever the edges between them.
struct ConstrainedGraph {
    CompressedGraph compressed; ///< Without the edges between two vertices of `last`.
    std::vector<Index> last;    ///< Vertices of compressed.graph, ascending.
};

/// `graph` compressed, vertices that are `last` merged with their like only: with those that have the same
/// neighbours among the others. Pairs as above, but those with a vertex in `last` are let go. Error{usage}
/// for a vertex that does not exist or is named twice.
ConstrainedGraph compress_with_last(Graph const& graph, std::span<Index const> last,
                                    VertexPairs const& pairs = {});

/// The same without compression: for orderings that are given by rows.
ConstrainedGraph uncompressed_with_last(Graph const& graph, std::span<Index const> last);

} // namespace espalier
