// Block symbolic factorization: from supernodes, their runs of rows and their pieces to cblks and bloks.
//
//     supernode cut into three pieces             the bloks of its three cblks
//     +---+---+---+
//     | d |   |   |   rows of piece 0             diagonal blok of cblk 0
//     +---+---+---+
//     | x | d |   |   rows of piece 1             dense blok of cblk 0, diagonal blok of cblk 1
//     +---+---+---+
//     | x | x | d |   rows of piece 2             ...
//     +---+---+---+
//     | r | r | r |   a run of rows below,        one blok in every cblk
//     +---+---+---+   cut where its facing
//     | r | r | r |   supernode is cut
//     +---+---+---+
//
// Linear in the number of bloks. After Charrier and Roman 1989, "Algorithmique et calculs de complexité pour
// un solveur de type dissections emboîtées".
#pragma once

#include <vector>

#include "symbolic/block_structure.hpp"
#include "symbolic/split.hpp"

namespace espalier {

/// The order in which the supernodes are numbered in the end, as a list of supernodes. When a supernode is
/// split, some children hang from later pieces than others; these come first, so that the cblks are numbered
/// in a postorder of *their* tree.
std::vector<SupernodeId> final_order(Supernodes const& supernodes, RowRuns const& runs, Pieces const& pieces);

/// Cblks, bloks, facing lists, parents and the sizes of what is stored; supernode order[k] becomes number k,
/// and the last one is kept (not eliminated) with `keep_last`. The permutation and the sizes of the exact
/// factor are left to the caller.
BlockStructure block_symbolic(Supernodes const& supernodes, RowRuns const& runs, Pieces const& pieces,
                              std::vector<SupernodeId> const& order, bool keep_last = false);

/// Fills in facing_ptr and facing, from cblks and bloks. Linear.
void list_facing(BlockStructure& structure);

} // namespace espalier
