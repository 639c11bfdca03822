#include "symbolic/block_symbolic.hpp"

#include <algorithm>
#include <numeric>

#include "core/id_limit.hpp"
#include "symbolic/column_counts.hpp"
#include "symbolic/etree.hpp"

namespace espalier {

namespace {

class Assembly {
  public:
    Assembly(Supernodes const& supernodes, RowRuns const& runs, Pieces const& pieces,
             std::vector<SupernodeId> const& order)
        : supernodes_(supernodes), runs_(runs), pieces_(pieces), order_(order) {}

    BlockStructure run(bool keep_last) {
        number_columns();
        if (keep_last) out_.first_kept_cblk = first_cblk_[order_.back()];
        for (SupernodeId const s : order_) {
            cut_runs(s);
            for (Index piece = 0; piece < std::ssize(pieces_.of(s)); ++piece) append_cblk(s, piece);
        }
        link_tree();
        list_facing(out_);
        return std::move(out_);
    }

  private:
    void number_columns() {
        first_col_.resize(order_.size());
        first_cblk_.resize(order_.size());
        number_.resize(order_.size());
        CblkId cblk = 0;
        for (SupernodeId k = 0; k < supernodes_.size(); ++k) {
            SupernodeId const s = order_[k];
            number_[s] = k;
            first_col_[s] = out_.n;
            first_cblk_[s] = cblk;
            out_.n += supernodes_.width[s];
            cblk += static_cast<CblkId>(pieces_.of(s).size());
        }
        out_.num_supernodes = supernodes_.size();
        out_.first_kept_cblk = cblk;
        out_.cblks.reserve(cblk);
        out_.cblk_of_col.resize(out_.n);
    }

    // Finds the bloks below supernode s, which all its pieces have in common.
    void cut_runs(SupernodeId s) {
        below_.clear();
        for (FacingRun const& run : runs_.of(s)) {
            Index const base = first_col_[run.facing];
            auto const ends = pieces_.of(run.facing);
            std::int32_t piece = pieces_.piece_of(run.facing, run.begin);
            for (Index begin = run.begin; begin < run.end; ++piece) {
                Index const end = std::min(run.end, ends[piece]);
                below_.push_back({base + begin, base + end, first_cblk_[run.facing] + piece, 0});
                begin = end;
            }
        }
    }

    void append_cblk(SupernodeId s, Index piece) {
        auto const ends = pieces_.of(s);
        auto const id = out_.num_cblks();
        Cblk cblk;
        cblk.first_col = first_col_[s] + (piece == 0 ? 0 : ends[piece - 1]);
        cblk.end_col = first_col_[s] + ends[piece];
        cblk.first_blok = out_.num_bloks();
        cblk.supernode = number_[s];
        cblk.first_descendant = id;
        auto const append = [&](Blok blok) {
            blok.panel_row = cblk.stride;
            cblk.stride += blok.height();
            out_.bloks.push_back(blok);
            out_.owner_of_blok.push_back(id);
        };
        append({cblk.first_col, cblk.end_col, id, 0});
        for (Index later = piece + 1; later < std::ssize(ends); ++later)
            append({first_col_[s] + ends[later - 1], first_col_[s] + ends[later],
                    first_cblk_[s] + static_cast<CblkId>(later), 0});
        for (Blok const& blok : below_) append(blok);
        cblk.end_blok = out_.num_bloks();

        std::fill(out_.cblk_of_col.begin() + cblk.first_col, out_.cblk_of_col.begin() + cblk.end_col, id);
        out_.stored += cblk.stride * cblk.width();
        if (id < out_.first_kept_cblk) out_.stored_flops += trapezoid_flops(cblk.stride, cblk.width());
        out_.cblks.push_back(cblk);
    }

    void link_tree() {
        for (CblkId k = 0; k < out_.num_cblks(); ++k) {
            Cblk& cblk = out_.cblks[k];
            if (cblk.end_blok - cblk.first_blok == 1) continue;
            cblk.parent = out_.bloks[cblk.first_blok + 1].facing_cblk;
            Cblk& parent = out_.cblks[cblk.parent];
            parent.first_descendant = std::min(parent.first_descendant, cblk.first_descendant);
        }
    }

    Supernodes const& supernodes_;
    RowRuns const& runs_;
    Pieces const& pieces_;
    std::vector<SupernodeId> const& order_;
    std::vector<Index> first_col_;     // by supernode
    std::vector<CblkId> first_cblk_;   // by supernode
    std::vector<std::int32_t> number_; // final number of each supernode
    std::vector<Blok> below_;
    BlockStructure out_;
};

} // namespace

std::vector<SupernodeId> final_order(Supernodes const& supernodes, RowRuns const& runs,
                                     Pieces const& pieces) {
    // The piece that contains the first row below each supernode.
    std::vector<std::int32_t> piece(supernodes.parent.size(), 0);
    for (SupernodeId s = 0; s < supernodes.size(); ++s)
        if (auto const below = runs.of(s); !below.empty())
            piece[s] = pieces.piece_of(below.front().facing, below.front().begin);
    std::vector<SupernodeId> sibling_order(supernodes.parent.size());
    std::iota(sibling_order.begin(), sibling_order.end(), 0);
    std::stable_sort(sibling_order.begin(), sibling_order.end(),
                     [&](SupernodeId a, SupernodeId b) { return piece[a] > piece[b]; });
    return postorder(supernodes.parent, sibling_order);
}

BlockStructure block_symbolic(Supernodes const& supernodes, RowRuns const& runs, Pieces const& pieces,
                              std::vector<SupernodeId> const& order, bool keep_last) {
    checked_column_blocks(pieces.ends.size());
    return Assembly(supernodes, runs, pieces, order).run(keep_last);
}

// A counting sort keeps the owners in ascending order.
void list_facing(BlockStructure& structure) {
    auto& ptr = structure.facing_ptr;
    ptr.assign(structure.cblks.size() + 1, 0);
    auto const for_each_off_diagonal = [&](auto const& body) {
        for (Cblk const& cblk : structure.cblks)
            for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok; ++b)
                body(b, structure.bloks[b].facing_cblk);
    };
    for_each_off_diagonal([&](BlokId, CblkId j) { ++ptr[j + 1]; });
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    structure.facing.resize(ptr.back());
    std::vector<Offset> next(ptr.begin(), ptr.end() - 1);
    for_each_off_diagonal([&](BlokId b, CblkId j) { structure.facing[next[j]++] = b; });
}

int tree_depth(BlockStructure const& structure) {
    std::vector<int> height(structure.cblks.size(), 1); // by cblk: height of its subtree
    int depth = 0;
    for (CblkId k = 0; k < structure.num_cblks(); ++k) {
        depth = std::max(depth, height[k]);
        if (CblkId const p = structure.cblks[k].parent; p != no_cblk)
            height[p] = std::max(height[p], height[k] + 1);
    }
    return depth;
}

} // namespace espalier
