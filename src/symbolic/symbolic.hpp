// Symbolic factorization: from a graph and an order of its vertices to the block structure of the factor.
#pragma once

#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

struct SymbolicOptions {
    /// Amalgamation: merge a supernode into its parent while the zeros it adds stay below these bounds.
    double amalgamation_fill = 0.08;  ///< Extra stored entries of the merged node, relative to it, for large nodes.
    Index small_width = 16;           ///< Nodes narrower than this may merge with more fill.
    bool reorder_rows = true;         ///< Reorder inside supernodes so that bloks merge.
    Index max_width = 256;            ///< Split supernodes wider than this ...
    Index min_width = 128;            ///< ... into cblks of at least this width.
};

/// Works on the compressed graph throughout and expands at the end, so its time does not grow with the
/// unknowns per node. Every step is linear or near-linear in the edges of the graph plus the bloks.
BlockStructure symbolic_factorization(CompressedGraph const& compressed, Ordering const& ordering,
                                      SymbolicOptions const& options);

} // namespace espalier
