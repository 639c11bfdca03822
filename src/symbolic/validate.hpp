// The invariants of a block structure, checked; and its depth. For tests and for those who do not trust a
// structure that they were given.
#pragma once

#include "symbolic/block_structure.hpp"

namespace espalier {

/// Error{internal} naming the first cblk or blok that breaks what block_structure.hpp promises: permutation,
/// columns covered once, bloks ascending and each inside its facing cblk, panel rows, parents and postorder,
/// facing lists, kept cblks, totals; and that the rows of each cblk beyond its parent's columns are rows of
/// its parent, so that every update finds its target. Linear time.
void validate(BlockStructure const& structure);

/// Cblks on the longest path from a leaf to a root of the cblk tree.
int tree_depth(BlockStructure const& structure);

} // namespace espalier
