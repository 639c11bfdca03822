// Symbolic factorization. Input: a graph and an ordering of its vertices; output: the block structure of the
// factor.
#pragma once

#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"
#include "symbolic/block_structure.hpp"
#include "symbolic/options.hpp"

namespace espalier {

/// Works on the compressed graph and expands the result at the end, so the time does not grow with the number
/// of unknowns per node. Each step is linear or nearly linear in the edges of the graph plus the rows of the
/// supernodes. The last options.kept_vertices vertices are not eliminated (BlockStructure::first_kept_cblk).
/// Throws Error{usage} for invalid options; Error{internal} if graph and ordering do not match;
/// Error{unsupported} for more than 2^31 - 1 vertices; Error{cancelled}.
BlockStructure symbolic_factorization(CompressedGraph const& compressed, Ordering const& ordering,
                                      SymbolicOptions const& options);

} // namespace espalier
