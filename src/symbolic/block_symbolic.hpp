// Block symbolic factorization. Input: supernodes, their runs of rows and their pieces; output: cblks and
// bloks.
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
// Takes time linear in the number of bloks. Follows Charrier and Roman 1989, "Algorithmique et calculs de
// complexité pour un solveur de type dissections emboîtées".
#pragma once

#include <vector>

#include "symbolic/block_structure.hpp"
#include "symbolic/split.hpp"

namespace espalier {

/// The final order of the supernodes, as a list of supernodes. If a supernode is split, its children have
/// different pieces as parents. Children of later pieces come first, so that the cblks are numbered in a
/// postorder of the tree of cblks.
std::vector<SupernodeId> final_order(Supernodes const& supernodes, RowRuns const& runs, Pieces const& pieces);

/// Builds cblks, bloks, facing lists, parents and the stored sizes. Supernode order[k] gets number k; with
/// `keep_last` the last one is not eliminated. The caller adds the permutation and the sizes of the exact
/// factor. Throws Error{unsupported} if there are more cblks than CblkId can number.
BlockStructure block_symbolic(Supernodes const& supernodes, RowRuns const& runs, Pieces const& pieces,
                              std::vector<SupernodeId> const& order, bool keep_last = false);

/// Computes facing_ptr and facing from cblks and bloks in linear time.
void list_facing(BlockStructure& structure);

/// Number of cblks on the longest path from a leaf to a root of the tree of cblks.
int tree_depth(BlockStructure const& structure);

} // namespace espalier
