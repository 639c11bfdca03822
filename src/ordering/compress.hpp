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
    Graph graph;                      ///< The weights are numbers of rows.
    std::vector<Index> vertex_of_row; ///< The vertex in `graph` of each row of the matrix.
    /// Vertices that every ordering must number last, ascending: the unknowns of a Schur complement, which is
    /// dense regardless of the edges between them. `graph` is without these edges.
    std::vector<Index> last{};
};

using VertexPairs = std::vector<std::pair<Index, Index>>;

/// Merges indistinguishable vertices in time linear in the edges, by hashing and exact comparison. Weights
/// are added within each group. Returns the graph unchanged if compression would remove less than a tenth of
/// the vertices. Vertices in `last` are merged only with each other, if they have the same neighbors outside
/// `last`. The vertices of each pair are merged first, so rows that must be eliminated together stay together
/// in every ordering; pairs with a vertex in `last` are ignored. Throws Error{usage} if a vertex in `last`
/// does not exist or is listed twice.
///
/// The groups have the order of their first members. If that scatters neighbors over a large graph and
/// `last` is empty, they have the order of breadth-first searches.
CompressedGraph compress(Graph graph, std::span<Index const> last = {}, VertexPairs const& pairs = {});

/// The graph with every vertex as a group, for orderings of matrix rows. Throws the errors of compress().
CompressedGraph uncompressed(Graph graph, std::span<Index const> last = {});

} // namespace espalier
