// Adapts an ordering to a pattern that differs little from the one that it was found for, in place of a new
// ordering. Zarebavani, Kaufman, Levin, Mehri Dehnavi 2025, "Adaptive algebraic reuse of reordering in
// Cholesky factorizations with dynamic sparsity patterns" (Parth), also keeps separators and orders the parts
// that changed again.
#pragma once

#include <cstdint>
#include <vector>

#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"

namespace espalier {

/// The tree of an earlier ordering: separators of a dissection, or supernodes. Rows of two nodes are adjacent
/// only if one of the nodes is an ancestor of the other.
struct SeparatorTree {
    std::vector<Index> parent; ///< For each node its parent, in postorder: parent[k] > k; -1 for a root.
    /// The rows of the matrix in the order of their elimination: inverse[new] = old.
    std::vector<Index> inverse;
    std::vector<Index> node_of_row; ///< For each row of the matrix its node. Nodes ascend along `inverse`.

    [[nodiscard]] std::uint64_t bytes() const {
        return sizeof(Index) * (parent.size() + inverse.size() + node_of_row.size());
    }
};

struct AdaptedOrdering {
    Ordering ordering;
    Index moved = 0;     ///< Vertices that moved into a separator.
    Index reordered = 0; ///< Vertices of subtrees that were ordered again.
};

/// An ordering of the graph that keeps the separators of `previous`, whose matrix had the same number of
/// rows.
///
/// An edge between two nodes neither of which is an ancestor of the other breaks the separator at their
/// lowest common ancestor. One end of each such edge moves into this separator; its other edges remain valid,
/// because an ancestor of a node is related to all nodes that the node is related to. If more vertices move
/// into a separator than half of its size, the whole subtree is ordered again by options.method, and all
/// vertices if this concerns more than half of them. Linear in the edges, but for the subtrees and for a
/// logarithm of the tree's height per broken edge. The errors are those of compute_ordering().
AdaptedOrdering adapt_ordering(CompressedGraph const& compressed, SeparatorTree const& previous,
                               OrderingOptions const& options);

} // namespace espalier
