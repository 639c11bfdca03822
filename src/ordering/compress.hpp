// Compression of indistinguishable vertices: v and w are merged if adj(v) + {v} = adj(w) + {w}, which is
// usual for the unknowns of a mesh node. The compressed graph of elasticity with 3 unknowns per node has 3
// times fewer vertices and 9 times fewer edges. Ashcraft 1995, "Compressed graphs and the minimum degree
// algorithm".
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// A graph with one vertex per group of merged vertices.
struct CompressedGraph {
    Graph graph; ///< Groups in the order of their first members; weights are numbers of rows.
    std::vector<Index> vertex_of_row; ///< The vertex in `graph` of each row of the matrix.
};

/// Merges indistinguishable vertices in time linear in the edges, by hashing and exact comparison. Weights
/// are added within each group. Returns the graph unchanged if compression would remove less than a tenth of
/// the vertices.
CompressedGraph compress(Graph const& graph);

/// The graph with every vertex as a group, for orderings of matrix rows.
CompressedGraph uncompressed(Graph graph);

/// Disjoint pairs of vertices.
using VertexPairs = std::vector<std::pair<Index, Index>>;

/// Merges the vertices of each pair and compresses the result, so rows that must be eliminated together stay
/// together in every ordering. Takes nearly linear time.
CompressedGraph compress_with_pairs(Graph const& graph, VertexPairs const& pairs);

/// A graph with vertices that every ordering must number last (constrained.hpp): the unknowns of a Schur
/// complement, which is dense regardless of the edges between them.
struct ConstrainedGraph {
    CompressedGraph compressed; ///< Without the edges between two vertices of `last`.
    std::vector<Index> last;    ///< Vertices of compressed.graph, ascending.
};

/// Compresses `graph`. Vertices in `last` are merged only with each other, if they have the same neighbours
/// outside `last`. Merges pairs as above, without those that have a vertex in `last`. Throws Error{usage} if
/// a vertex does not exist or is listed twice.
ConstrainedGraph compress_with_last(Graph const& graph, std::span<Index const> last,
                                    VertexPairs const& pairs = {});

/// The constrained graph without compression, for orderings of matrix rows.
ConstrainedGraph uncompressed_with_last(Graph const& graph, std::span<Index const> last);

} // namespace espalier
