#include "symbolic/validate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "symbolic/column_counts.hpp"

namespace espalier {

namespace {

class Validation {
  public:
    explicit Validation(BlockStructure const& structure) : s_(structure) {}

    void run() {
        check_permutation();
        check_columns();
        for (CblkId k = 0; k < s_.num_cblks(); ++k) {
            check_bloks(k);
            check_tree(k);
            check_rows_in_parent(k);
        }
        check_facing_lists();
        check_kept();
        check_totals();
    }

  private:
    static void require(bool holds, char const* what, Index number) {
        if (!holds) throw Error(Status::internal, fmt::format("block structure: {} at {}", what, number));
    }

    void check_permutation() const {
        require(s_.n >= 0 && std::ssize(s_.perm) == s_.n, "wrong size of perm", s_.n);
        require(std::ssize(s_.inverse) == s_.n, "wrong size of inverse", s_.n);
        for (Index old = 0; old < s_.n; ++old) {
            Index const row = s_.perm[old];
            require(row >= 0 && row < s_.n && s_.inverse[row] == old, "perm and inverse disagree", old);
        }
    }

    void check_columns() const {
        require(std::ssize(s_.cblk_of_col) == s_.n, "wrong size of cblk_of_col", s_.n);
        require(s_.owner_of_blok.size() == s_.bloks.size(), "wrong size of owner_of_blok", s_.num_bloks());
        Index col = 0;
        BlokId blok = 0;
        std::int32_t supernode = -1;
        for (CblkId k = 0; k < s_.num_cblks(); ++k) {
            Cblk const& cblk = s_.cblks[k];
            require(cblk.first_col == col && cblk.end_col > col && cblk.end_col <= s_.n,
                    "gap between columns", k);
            require(cblk.first_blok == blok && cblk.end_blok > blok && cblk.end_blok <= s_.num_bloks(),
                    "gap between bloks", k);
            require(cblk.supernode == supernode || cblk.supernode == supernode + 1, "supernodes out of order",
                    k);
            for (; col < cblk.end_col; ++col) require(s_.cblk_of_col[col] == k, "wrong cblk_of_col", col);
            for (; blok < cblk.end_blok; ++blok)
                require(s_.owner_of_blok[blok] == k, "wrong owner_of_blok", blok);
            supernode = cblk.supernode;
        }
        require(col == s_.n, "columns outside all cblks", col);
        require(blok == s_.num_bloks(), "bloks outside all cblks", blok);
        require(s_.num_supernodes == supernode + 1, "wrong number of supernodes", s_.num_supernodes);
    }

    void check_bloks(CblkId k) const {
        Cblk const& cblk = s_.cblks[k];
        Blok const& diagonal = s_.bloks[cblk.first_blok];
        require(diagonal.first_row == cblk.first_col && diagonal.end_row == cblk.end_col,
                "wrong diagonal blok", k);
        Index panel_row = 0;
        Index end_row = cblk.first_col;
        for (BlokId b = cblk.first_blok; b < cblk.end_blok; ++b) {
            Blok const& blok = s_.bloks[b];
            require(blok.first_row >= end_row && blok.height() > 0, "blok rows out of order", b);
            require(blok.facing_cblk >= k && blok.facing_cblk < s_.num_cblks(), "facing cblk out of range",
                    b);
            Cblk const& facing = s_.cblks[blok.facing_cblk];
            require(blok.first_row >= facing.first_col && blok.end_row <= facing.end_col,
                    "blok exceeds its facing cblk", b);
            require(b == cblk.first_blok || blok.first_row > end_row || facing.first_col == end_row,
                    "blok not merged with the blok above", b);
            require(blok.panel_row == panel_row, "wrong panel_row", b);
            panel_row += blok.height();
            end_row = blok.end_row;
        }
        require(cblk.stride == panel_row, "wrong stride", k);
    }

    void check_tree(CblkId k) const {
        Cblk const& cblk = s_.cblks[k];
        bool const is_root = cblk.end_blok == cblk.first_blok + 1;
        require(cblk.parent == (is_root ? no_cblk : s_.bloks[cblk.first_blok + 1].facing_cblk),
                "wrong parent", k);
        // In a postorder the subtrees of the children cover [first_descendant, k), and the last child is k -
        // 1.
        CblkId first = k;
        while (first > 0 && s_.cblks[first - 1].parent == k) first = s_.cblks[first - 1].first_descendant;
        require(cblk.first_descendant == first, "wrong first_descendant", k);
        require(is_root || cblk.parent > k, "parent before its child", k);
        require(is_root || s_.cblks[cblk.parent].first_descendant <= cblk.first_descendant, "not a postorder",
                k);
    }

    void check_rows_in_parent(CblkId k) const {
        Cblk const& cblk = s_.cblks[k];
        if (cblk.parent == no_cblk) return;
        Cblk const& parent = s_.cblks[cblk.parent];
        BlokId above = parent.first_blok;
        for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok; ++b) {
            Blok const& blok = s_.bloks[b];
            while (above < parent.end_blok && s_.bloks[above].end_row < blok.end_row) ++above;
            require(above < parent.end_blok && s_.bloks[above].first_row <= blok.first_row,
                    "rows missing in the parent", b);
        }
    }

    void check_facing_lists() const {
        require(s_.facing_ptr.size() == s_.cblks.size() + 1 && s_.facing_ptr.front() == 0,
                "wrong size of facing_ptr", s_.num_cblks());
        require(std::ssize(s_.facing) == s_.num_bloks() - s_.num_cblks(), "wrong size of facing",
                s_.num_bloks());
        require(s_.facing_ptr.back() == std::ssize(s_.facing), "wrong end of facing_ptr", s_.num_cblks());
        for (CblkId j = 0; j < s_.num_cblks(); ++j) {
            require(s_.facing_ptr[j] <= s_.facing_ptr[j + 1], "decreasing facing_ptr", j);
            BlokId previous = -1;
            for (Offset f = s_.facing_ptr[j]; f < s_.facing_ptr[j + 1]; ++f) {
                BlokId const b = s_.facing[f];
                require(b > previous && b < s_.num_bloks(), "facing list out of order", j);
                require(s_.bloks[b].facing_cblk == j && s_.owner_of_blok[b] < j,
                        "wrong blok in a facing list", b);
                previous = b;
            }
        }
    }

    // All kept cblks are pieces of the last supernode, which is dense.
    void check_kept() const {
        CblkId const first = s_.first_kept_cblk;
        require(first >= 0 && first <= s_.num_cblks(), "first_kept_cblk out of range", first);
        if (first == s_.num_cblks()) return;
        require(first == 0 || s_.cblks[first - 1].supernode < s_.cblks[first].supernode,
                "supernode with kept and other cblks", first);
        for (CblkId k = first; k < s_.num_cblks(); ++k) {
            require(s_.cblks[k].supernode == s_.cblks[first].supernode, "kept cblks in several supernodes",
                    k);
            require(s_.cblks[k].stride == s_.n - s_.cblks[k].first_col, "kept cblk is not dense", k);
        }
    }

    void check_totals() const {
        Offset stored = 0;
        Offset entries = 0;
        double flops = 0;
        for (CblkId k = 0; k < s_.num_cblks(); ++k) {
            Cblk const& cblk = s_.cblks[k];
            stored += cblk.stride * cblk.width();
            if (k >= s_.first_kept_cblk) continue;
            entries += trapezoid_entries(cblk.stride, cblk.width());
            flops += trapezoid_flops(cblk.stride, cblk.width());
        }
        require(s_.stored == stored, "wrong number of stored coefficients", s_.stored);
        require(entries >= s_.nnz_factor, "fewer entries than the factor has", entries);
        require(std::abs(s_.stored_flops - flops) <= 1e-9 * flops, "wrong stored_flops", s_.num_cblks());
        require(s_.stored_flops >= (1 - 1e-9) * s_.flops, "fewer flops than the factor needs",
                s_.num_cblks());
    }

    BlockStructure const& s_;
};

} // namespace

void validate(BlockStructure const& structure) {
    Validation(structure).run();
}

int tree_depth(BlockStructure const& structure) {
    std::vector<int> height(structure.cblks.size(), 1); // of the subtree of each cblk
    int depth = 0;
    for (CblkId k = 0; k < structure.num_cblks(); ++k) {
        depth = std::max(depth, height[k]);
        if (CblkId const p = structure.cblks[k].parent; p != no_cblk)
            height[p] = std::max(height[p], height[k] + 1);
    }
    return depth;
}

} // namespace espalier
