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
//
// The part of one process among several (simulation/local_structure.hpp) has the same form. It has the cblks
// that the process owns and ghosts: cblks of other processes that its panels face. Cblks and columns are
// renumbered in ascending order. The bloks of a ghost are the rows of its panel that the process contributes
// to, stacked as in the fan-in block.
#pragma once

#include <cstdint>
#include <span>
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
    Index n = 0;                 ///< Columns.
    std::vector<Index> perm;     ///< perm[old row] = new row. Empty in a part.
    std::vector<Index> inverse;  ///< For each column its row in vectors: inverse[perm[i]] = i. Ghosts: -1.
    std::vector<Index> unknowns; ///< In a part, for each row of its vectors the row of the whole system.
    std::vector<Cblk> cblks;
    std::vector<Blok> bloks;
    std::vector<CblkId> cblk_of_col; ///< For each column, its cblk. Empty in a part.

    /// Cblks [first_kept_cblk, num_cblks()) are those of a Schur complement: last in the numbering, updated
    /// but never eliminated. num_cblks() when there is none.
    CblkId first_kept_cblk = 0;

    /// Off-diagonal bloks that face cblk j, by ascending owner: facing[facing_ptr[j] .. facing_ptr[j + 1]).
    std::vector<Offset> facing_ptr;
    std::vector<BlokId> facing;
    std::vector<CblkId> owner_of_blok; ///< For each blok, the cblk whose panel holds it.

    // In a part, for each cblk:
    std::vector<CblkId> number_of_cblk;      ///< Its number in the whole structure; ascending.
    std::vector<std::int32_t> level_of_cblk; ///< Its distance from the root of its tree.

    // These describe the elimination itself (column counts), before amalgamation, without the kept columns:
    Offset nnz_factor = 0;    ///< Entries of L, diagonal included.
    double flops = 0;         ///< Sum of squared column counts: real flops of a real Cholesky.
    Index tree_height = 0;    ///< Nodes on the longest path of the elimination tree.
    Index num_supernodes = 0; ///< After amalgamation, before splitting.
    // These describe the structure as stored:
    Offset stored = 0;       ///< Coefficients of all panels (L side).
    double stored_flops = 0; ///< As `flops`, over the stored structure, without the kept cblks.

    [[nodiscard]] CblkId num_cblks() const { return static_cast<CblkId>(cblks.size()); }
    [[nodiscard]] BlokId num_bloks() const { return static_cast<BlokId>(bloks.size()); }
    [[nodiscard]] Cblk const& cblk(CblkId k) const { return cblks[k]; }
    [[nodiscard]] Blok const& blok(BlokId b) const { return bloks[b]; }
    [[nodiscard]] std::span<Blok const> bloks_of(Cblk const& c) const {
        return {bloks.data() + c.first_blok, bloks.data() + c.end_blok};
    }
    [[nodiscard]] std::span<Blok const> bloks_below(Cblk const& c) const { return bloks_of(c).subspan(1); }
    [[nodiscard]] std::span<BlokId const> bloks_facing(CblkId j) const {
        return {facing.data() + facing_ptr[j], facing.data() + facing_ptr[j + 1]};
    }

    [[nodiscard]] bool is_kept(CblkId k) const { return k >= first_kept_cblk; }
    [[nodiscard]] Index first_kept_col() const {
        return first_kept_cblk < num_cblks() ? cblks[first_kept_cblk].first_col : n;
    }
    [[nodiscard]] Index num_kept_cols() const { return n - first_kept_col(); }

    [[nodiscard]] bool is_part() const { return !number_of_cblk.empty(); }
    /// Rows of the vectors that solves work on: those of all columns but ghosts.
    [[nodiscard]] Index vector_rows() const { return is_part() ? std::ssize(unknowns) : n; }
    /// The row of the whole system that belongs to a column (not of a ghost).
    [[nodiscard]] Index unknown_of(Index col) const {
        return is_part() ? unknowns[inverse[col]] : inverse[col];
    }
    [[nodiscard]] CblkId number_of(CblkId k) const { return is_part() ? number_of_cblk[k] : k; }
};

} // namespace espalier
