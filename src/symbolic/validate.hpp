// Checks of the invariants of a block structure, and its depth.
#pragma once

#include "symbolic/block_structure.hpp"

namespace espalier {

/// Checks the invariants of block_structure.hpp in linear time: permutation, columns covered once, ascending
/// bloks inside their facing cblks, panel rows, parents and postorder, facing lists, kept cblks, totals. Also
/// checks that the rows of a cblk outside its parent's columns are rows of the parent, so that every update
/// has a target. Throws Error{internal} that names the first invalid cblk or blok.
void validate(BlockStructure const& structure);

/// Number of cblks on the longest path from a leaf to a root of the tree of cblks.
int tree_depth(BlockStructure const& structure);

} // namespace espalier
