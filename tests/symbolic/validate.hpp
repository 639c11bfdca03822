// Checks of the invariants of block_structure.hpp in linear time.
#pragma once

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "symbolic/block_structure.hpp"
#include "symbolic/column_counts.hpp"

namespace espalier::testing {

class Validation {
  public:
    explicit Validation(BlockStructure const& structure)
        : s_(structure), facing_(structure.cblks.size()), first_descendant_(structure.cblks.size()) {}

    void run() {
        require(s_.n == std::ssize(s_.perm) && s_.n == std::ssize(s_.inverse), "permutation of wrong size",
                s_.n);
        for (Index old = 0; old < s_.n; ++old)
            require(s_.inverse.at(s_.perm[old]) == old, "perm and inverse disagree", old);
        for (CblkId k = 0; k < s_.num_cblks(); ++k) {
            check_numbering(k);
            check_bloks(k);
            check_tree(k);
            check_rows_in_parent(k);
            check_kept(k);
            add(k);
        }
        require(s_.cblk_of_col == cblk_of_col_ && std::ssize(cblk_of_col_) == s_.n, "wrong cblk_of_col",
                s_.n);
        require(s_.owner_of_blok == owner_of_blok_ && std::ssize(owner_of_blok_) == s_.num_bloks(),
                "wrong owner_of_blok", s_.num_bloks());
        check_facing_lists();
        check_totals();
    }

  private:
    static void require(bool holds, char const* what, Index number) {
        if (!holds) throw std::logic_error(fmt::format("block structure: {} at {}", what, number));
    }

    void check_numbering(CblkId k) const {
        Cblk const& cblk = s_.cblks[k];
        std::int32_t const previous = k == 0 ? -1 : s_.cblks[k - 1].supernode;
        require(cblk.first_col == std::ssize(cblk_of_col_) && cblk.width() > 0, "gap between columns", k);
        require(cblk.first_blok == std::ssize(owner_of_blok_) && cblk.end_blok > cblk.first_blok &&
                    cblk.end_blok <= s_.num_bloks(),
                "gap between bloks", k);
        require(cblk.supernode == previous || cblk.supernode == previous + 1, "supernodes out of order", k);
    }

    void check_bloks(CblkId k) const {
        Cblk const& cblk = s_.cblks[k];
        Index panel_row = 0;
        Index end_row = cblk.first_col;
        for (BlokId b = cblk.first_blok; b < cblk.end_blok; ++b) {
            Blok const& blok = s_.bloks[b];
            bool const diagonal = b == cblk.first_blok;
            require(blok.first_row >= end_row && blok.height() > 0, "blok rows out of order", b);
            require(blok.facing_cblk >= k && blok.facing_cblk < s_.num_cblks(), "no such facing cblk", b);
            Cblk const& facing = s_.cblks[blok.facing_cblk];
            require(!diagonal || (blok.facing_cblk == k && blok.height() == cblk.width()), "wrong diagonal",
                    k);
            require(blok.first_row >= facing.first_col && blok.end_row <= facing.end_col,
                    "blok exceeds its facing cblk", b);
            require(diagonal || blok.first_row > end_row || facing.first_col == end_row,
                    "blok not merged with the blok above", b);
            require(blok.panel_row == panel_row, "wrong panel_row", b);
            panel_row += blok.height();
            end_row = blok.end_row;
        }
        require(cblk.stride == panel_row, "wrong stride", k);
    }

    // In a postorder the subtrees of the children cover [first_descendant, k), and the last child is k - 1.
    void check_tree(CblkId k) {
        Cblk const& cblk = s_.cblks[k];
        bool const is_root = cblk.end_blok == cblk.first_blok + 1;
        require(cblk.parent == (is_root ? no_cblk : s_.bloks[cblk.first_blok + 1].facing_cblk),
                "wrong parent", k);
        require(is_root || cblk.parent > k, "parent before its child", k);
        CblkId& first = first_descendant_[k] = k;
        while (first > 0 && s_.cblks[first - 1].parent == k) first = first_descendant_[first - 1];
        require(cblk.first_descendant == first, "wrong first_descendant", k);
        require(is_root || s_.cblks[cblk.parent].first_descendant <= first, "not a postorder", k);
    }

    // Rows outside the columns of the parent are rows of the parent, so that every update has a target.
    void check_rows_in_parent(CblkId k) const {
        Cblk const& cblk = s_.cblks[k];
        if (cblk.parent == no_cblk) return;
        Cblk const& parent = s_.cblks[cblk.parent];
        BlokId above = parent.first_blok;
        for (Blok const& blok : s_.bloks_below(cblk)) {
            while (above < parent.end_blok && s_.bloks[above].end_row < blok.end_row) ++above;
            require(above < parent.end_blok && s_.bloks[above].first_row <= blok.first_row,
                    "rows missing in the parent", k);
        }
    }

    // All kept cblks are pieces of the last supernode, which is dense.
    void check_kept(CblkId k) const {
        Cblk const& cblk = s_.cblks[k];
        require(s_.first_kept_cblk >= 0 && s_.first_kept_cblk <= s_.num_cblks(),
                "first_kept_cblk out of range", k);
        bool const in_last = cblk.supernode == s_.cblks.back().supernode;
        require(s_.is_kept(k) ? in_last : !in_last || s_.first_kept_cblk == s_.num_cblks(),
                "kept cblks are not those of the last supernode", k);
        require(!s_.is_kept(k) || cblk.stride == s_.n - cblk.first_col, "kept cblk is not dense", k);
    }

    void add(CblkId k) {
        Cblk const& cblk = s_.cblks[k];
        cblk_of_col_.resize(cblk.end_col, k);
        owner_of_blok_.resize(cblk.end_blok, k);
        for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok; ++b)
            facing_[s_.bloks[b].facing_cblk].push_back(b);
        stored_ += cblk.stride * cblk.width();
        if (s_.is_kept(k)) return;
        entries_ += trapezoid_entries(cblk.stride, cblk.width());
        flops_ += trapezoid_flops(cblk.stride, cblk.width());
    }

    void check_facing_lists() const {
        require(s_.facing_ptr.size() == facing_.size() + 1 && s_.facing_ptr.front() == 0 &&
                    s_.facing_ptr.back() == std::ssize(s_.facing),
                "wrong facing_ptr", s_.num_cblks());
        for (CblkId j = 0; j < s_.num_cblks(); ++j)
            require(std::ranges::equal(s_.bloks_facing(j), facing_[j]), "wrong facing list", j);
    }

    void check_totals() const {
        Index const num_supernodes = s_.cblks.empty() ? 0 : s_.cblks.back().supernode + 1;
        require(s_.num_supernodes == num_supernodes, "wrong number of supernodes", s_.num_supernodes);
        require(s_.stored == stored_, "wrong number of stored coefficients", s_.stored);
        require(entries_ >= s_.nnz_factor, "fewer entries than the factor has", entries_);
        require(std::abs(s_.stored_flops - flops_) <= 1e-9 * flops_, "wrong stored_flops", s_.num_cblks());
        require(flops_ >= (1 - 1e-9) * s_.flops, "fewer flops than the factor needs", s_.num_cblks());
    }

    BlockStructure const& s_;
    std::vector<CblkId> cblk_of_col_;
    std::vector<CblkId> owner_of_blok_;
    std::vector<std::vector<BlokId>> facing_;
    std::vector<CblkId> first_descendant_;
    Offset stored_ = 0;
    Offset entries_ = 0;
    double flops_ = 0;
};

/// Throws an exception that names the first invalid cblk or blok.
inline void validate(BlockStructure const& structure) {
    Validation(structure).run();
}

} // namespace espalier::testing
