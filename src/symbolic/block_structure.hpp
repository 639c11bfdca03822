// The block structure of the factor: what symbolic factorization produces and everything after it reads.
//
//      cblk k       its bloks (dense runs of rows), stacked in one panel of `stride` rows:
//     +------+
//     | diag |  blok first_blok: the columns' own rows
//     +------+
//     |  b1  |  each further blok lies in the columns of exactly one facing cblk
//     +------+
//     |  b2  |
//     +------+
//
// Everything is in the numbering after permutation (perm[old] = new, postordered). Cblks are numbered in a
// postorder of their tree, so a subtree is the contiguous range [first_descendant, k].
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

using CblkId = std::int32_t;
using BlokId = std::int64_t;
inline constexpr CblkId no_cblk = -1;

struct Blok {
    Index first_row = 0; ///< Rows [first_row, end_row).
    Index end_row = 0;
    CblkId facing_cblk = no_cblk; ///< The cblk that owns these rows as columns.
    Index panel_row = 0;          ///< Where first_row lies in the panel.
    [[nodiscard]] Index height() const { return end_row - first_row; }
};

struct Cblk {
    Index first_col = 0; ///< Columns [first_col, end_col).
    Index end_col = 0;
    BlokId first_blok = 0; ///< Bloks [first_blok, end_blok), rows ascending; the first is the diagonal block.
    BlokId end_blok = 0;
    Index stride = 0;                  ///< Rows of the panel: the sum of the heights of its bloks.
    CblkId parent = no_cblk;           ///< Facing cblk of the first blok below the diagonal one.
    CblkId first_descendant = no_cblk; ///< Subtree of k = cblks [first_descendant, k].
    std::int32_t supernode = 0;        ///< Pieces of one split supernode share this number.
    [[nodiscard]] Index width() const { return end_col - first_col; }
    [[nodiscard]] Index rows_below() const { return stride - width(); }
};

struct BlockStructure {
    Index n = 0;
    std::vector<Index> perm;    ///< perm[old row] = new row.
    std::vector<Index> inverse; ///< inverse[new row] = old row.
    std::vector<Cblk> cblks;
    std::vector<Blok> bloks;
    std::vector<CblkId> cblk_of_col; ///< For each column, its cblk.

    /// Cblks [first_kept_cblk, num_cblks()) are those of a Schur complement: last in the numbering, updated
    /// but never eliminated. num_cblks() when there is none.
    CblkId first_kept_cblk = 0;
    [[nodiscard]] Index first_kept_col() const {
        return first_kept_cblk < num_cblks() ? cblks[first_kept_cblk].first_col : n;
    }
    [[nodiscard]] Index num_kept_cols() const { return n - first_kept_col(); }

    /// Off-diagonal bloks that face cblk j, by ascending owner: facing[facing_ptr[j] .. facing_ptr[j + 1]).
    std::vector<Offset> facing_ptr;
    std::vector<BlokId> facing;
    std::vector<CblkId> owner_of_blok; ///< For each blok, the cblk whose panel holds it.

    // Of the elimination itself (column counts), before amalgamation, without the kept columns:
    Offset nnz_factor = 0;    ///< Entries of L, diagonal included.
    double flops = 0;         ///< Sum of squared column counts: real flops of a real Cholesky.
    Index tree_height = 0;    ///< Nodes on the longest path of the elimination tree.
    Index num_supernodes = 0; ///< After amalgamation, before splitting.
    // Of the structure as stored:
    Offset stored = 0;       ///< Coefficients of all panels (L side).
    double stored_flops = 0; ///< As `flops`, over the stored structure, without the kept cblks.

    [[nodiscard]] CblkId num_cblks() const { return static_cast<CblkId>(cblks.size()); }
    [[nodiscard]] BlokId num_bloks() const { return static_cast<BlokId>(bloks.size()); }
};

} // namespace espalier
