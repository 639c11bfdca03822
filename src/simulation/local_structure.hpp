// The part of a block structure that one process among several works with. In: the whole structure, the owner
// of each cblk, the fan-in blocks that the process sends. Out: a block structure of the cblks that it owns
// and of ghosts, which are the cblks of other processes that its panels face.
//
// Cblks and columns are renumbered in ascending order, so that each blok still lies in one facing cblk. The
// bloks of a ghost are the rows of its panel that the process contributes to, stacked as in its fan-in
// blocks: an update finds its place there as in a panel of its own. Columns of the own cblks are, in
// ascending order, the rows of the vectors of the process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "simulation/schedule.hpp"
#include "symbolic/block_structure.hpp"
#include "tasks/fan_in.hpp"

namespace espalier {

struct LocalStructure {
    BlockStructure structure;
    std::vector<BlokId> number_of_blok; ///< For each blok that of the whole structure in which it lies.
    /// For each blok below an own diagonal block, its place in `facing`.
    std::vector<Offset> facing_position;
};

class LocalStructures {
  public:
    /// The arguments must outlive this. Linear in the cblks.
    LocalStructures(BlockStructure const& whole, std::span<std::int32_t const> process_of_cblk,
                    std::int32_t processes)
        : whole_(whole), process_of_cblk_(process_of_cblk), own_(processes), levels_(tree_levels(whole)),
          local_(whole.cblks.size(), no_cblk) {
        for (CblkId k = 0; k < whole.num_cblks(); ++k) own_[process_of_cblk[k]].push_back(k);
    }

    /// The part of `process`, which sends the blocks `sent` of `fan_in`, by ascending targets and rows.
    /// Near-linear.
    LocalStructure part(std::int32_t process, FanInBlocks const& fan_in, std::span<std::int32_t const> sent) {
        LocalStructure part;
        BlockStructure& s = part.structure;
        choose_cblks(process, s);
        number_columns(process, s);
        std::vector<std::int32_t> is_own;
        for (CblkId i = 0; i < s.num_cblks(); ++i) {
            CblkId const k = s.number_of_cblk[i];
            is_own.push_back(process_of_cblk_[k] == process);
            s.cblks[i].first_blok = s.num_bloks();
            if (is_own.back()) {
                add_own_bloks(i, part);
            }
            for (; !sent.empty() && fan_in.blocks[sent.front()].target == k; sent = sent.subspan(1))
                add_ghost_bloks(i, fan_in.blocks[sent.front()], fan_in, part);
            s.cblks[i].end_blok = s.num_bloks();
        }
        list_facing_bloks(part, is_own);
        return part;
    }

    /// The number of cblk k in the latest part; no_cblk when it is not in it.
    [[nodiscard]] CblkId local_number(CblkId k) const { return local_[k]; }

  private:
    // Lists the bloks that face each cblk, by ascending owners.
    static void list_facing_bloks(LocalStructure& part, std::span<std::int32_t const> is_own) {
        BlockStructure& s = part.structure;
        s.facing_ptr.assign(s.cblks.size() + 1, 0);
        auto const for_each_blok = [&](auto const& visit) {
            for (CblkId k = 0; k < s.num_cblks(); ++k)
                for (BlokId b = s.cblk(k).first_blok + 1; is_own[k] && b < s.cblk(k).end_blok; ++b)
                    visit(b, s.blok(b).facing_cblk);
        };
        for_each_blok([&](BlokId, CblkId j) { ++s.facing_ptr[j + 1]; });
        for (CblkId j = 0; j < s.num_cblks(); ++j) s.facing_ptr[j + 1] += s.facing_ptr[j];
        s.facing.resize(s.facing_ptr.back());
        part.facing_position.resize(s.bloks.size());
        std::vector<Offset> next(s.facing_ptr.begin(), s.facing_ptr.end() - 1);
        for_each_blok([&](BlokId b, CblkId j) {
            part.facing_position[b] = next[j];
            s.facing[next[j]++] = b;
        });
    }

    // The own cblks and those that they face.
    void choose_cblks(std::int32_t process, BlockStructure& part) {
        for (CblkId const k : latest_) local_[k] = no_cblk;
        latest_ = own_[process];
        for (CblkId const k : own_[process]) {
            local_[k] = k;
            for (Blok const& blok : whole_.bloks_below(whole_.cblk(k))) {
                CblkId const j = blok.facing_cblk;
                if (process_of_cblk_[j] == process || local_[j] != no_cblk) continue;
                local_[j] = j;
                latest_.push_back(j);
            }
        }
        std::sort(latest_.begin(), latest_.end());
        for (std::size_t i = 0; i < latest_.size(); ++i) local_[latest_[i]] = static_cast<CblkId>(i);
        part.number_of_cblk = latest_;
        auto const kept = std::lower_bound(latest_.begin(), latest_.end(), whole_.first_kept_cblk);
        part.first_kept_cblk = static_cast<CblkId>(kept - latest_.begin());
    }

    void number_columns(std::int32_t process, BlockStructure& part) const {
        part.cblks.reserve(latest_.size());
        for (CblkId const k : latest_) {
            Cblk const& from = whole_.cblk(k);
            Cblk& to = part.cblks.emplace_back();
            to.first_col = part.n;
            to.end_col = part.n += from.width();
            to.supernode = from.supernode;
            part.level_of_cblk.push_back(levels_[k]);
            bool const is_own = process_of_cblk_[k] == process;
            if (is_own && from.parent != no_cblk) to.parent = local_[from.parent];
            for (Index col = from.first_col; col < from.end_col; ++col) {
                part.inverse.push_back(is_own ? std::ssize(part.unknowns) : -1);
                if (is_own) part.unknowns.push_back(whole_.inverse[col]);
            }
        }
    }

    void add_own_bloks(CblkId i, LocalStructure& part) const {
        Cblk const& from = whole_.cblk(part.structure.number_of_cblk[i]);
        for (BlokId b = from.first_blok; b < from.end_blok; ++b)
            add_blok(i, b, whole_.blok(b).first_row, whole_.blok(b).end_row, part);
    }

    void add_ghost_bloks(CblkId i, FanInBlock const& block, FanInBlocks const& fan_in,
                         LocalStructure& part) const {
        Cblk const& from = whole_.cblk(block.target);
        BlokId b = from.first_blok;
        for (BlockRows const& rows : fan_in.rows_of(block))
            for (Index row = rows.begin; row < rows.end;) {
                auto const bloks = whole_.bloks.begin();
                auto const landing =
                    std::partition_point(bloks + b, bloks + from.end_blok, [&](Blok const& one) {
                        return one.panel_row + one.height() <= row;
                    });
                b = landing - bloks;
                Index const end = std::min(rows.end, landing->panel_row + landing->height());
                Index const first_row = landing->first_row + (row - landing->panel_row);
                add_blok(i, b, first_row, first_row + (end - row), part);
                row = end;
            }
    }

    // To cblk i of the part: rows [first_row, end_row) of the whole structure, which lie in its blok
    // `number`.
    void add_blok(CblkId i, BlokId number, Index first_row, Index end_row, LocalStructure& part) const {
        BlockStructure& s = part.structure;
        CblkId const facing = whole_.blok(number).facing_cblk;
        CblkId const local = local_[facing];
        Index const shift = s.cblk(local).first_col - whole_.cblk(facing).first_col;
        s.bloks.push_back({first_row + shift, end_row + shift, local, s.cblk(i).stride});
        s.owner_of_blok.push_back(i);
        s.cblks[i].stride += end_row - first_row;
        part.number_of_blok.push_back(number);
    }

    BlockStructure const& whole_;
    std::span<std::int32_t const> process_of_cblk_;
    std::vector<std::vector<CblkId>> own_; // by process, ascending
    std::vector<std::int32_t> levels_;
    std::vector<CblkId> local_;  // by cblk: its number in the latest part
    std::vector<CblkId> latest_; // cblks of the latest part
};

/// Bytes of a structure.
inline std::uint64_t structure_bytes(BlockStructure const& s) {
    return (s.perm.size() + s.inverse.size() + s.unknowns.size()) * sizeof(Index) +
           s.cblks.size() * sizeof(Cblk) + s.bloks.size() * sizeof(Blok) +
           (s.cblk_of_col.size() + s.owner_of_blok.size() + s.number_of_cblk.size() +
            s.level_of_cblk.size()) *
               sizeof(CblkId) +
           s.facing_ptr.size() * sizeof(Offset) + s.facing.size() * sizeof(BlokId);
}

} // namespace espalier
