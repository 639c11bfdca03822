// Symbolic factorization: from a graph and an order of its vertices to the block structure of the factor.
#pragma once

#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"
#include "symbolic/block_structure.hpp"
#include "symbolic/options.hpp"

namespace espalier {

/// With options.kept_vertices = m the last m vertices of the ordering are not eliminated: see
/// BlockStructure::first_kept_cblk.
///
/// Works on the compressed graph throughout and expands at the end, so its time does not grow with the
/// unknowns per node. Every step is linear or near-linear in the edges of the graph plus the rows of the
/// supernodes. Error{usage} for options out of range, Error{internal} when graph and ordering do not belong
/// together, Error{unsupported} beyond 2^31 - 1 vertices of the compressed graph.
BlockStructure symbolic_factorization(CompressedGraph const& compressed, Ordering const& ordering,
                                      SymbolicOptions const& options);

} // namespace espalier
