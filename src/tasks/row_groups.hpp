// 2D: panels of wide cblks with several candidate threads are cut into groups of rows. Each group becomes
// separate solve and update tasks (Splitting::two_d), or a piece of a task that is divided while it runs
// (Splitting::dynamic; task_pieces.hpp). In: structure, branches, candidates. Out: for each cblk the
// first blok of each group.
//
//     cblk j    group 0   the diagonal block      diagonal(j)
//               group 1   some bloks below        solve(j, 1), updates of j by group: update(k, j, 1)
//               group 2   the next ones           solve(j, 2), ...
//
// A group ends where the facing cblk changes, so all rows that a source has for one facing cblk are in one
// group of every target.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "core/id_limit.hpp"
#include "espalier/schedule_settings.hpp"
#include "mapping/branches.hpp"
#include "mapping/proportional.hpp"

namespace espalier {

/// Rows of the (permuted) matrix: [begin, end).
struct RowWindow {
    Index begin = 0;
    Index end = std::numeric_limits<Index>::max();
};

class RowGroups {
  public:
    /// No panel is cut.
    RowGroups() = default;
    /// Cuts each branch of a single cblk (not kept) that has at least split_width columns, several candidate
    /// workers in one process, and rows for two groups below the diagonal block. Linear.
    RowGroups(BlockStructure const& structure, BranchPartition const& partition, Mapping const& mapping,
              ScheduleSettings const& settings) {
        if (settings.splitting == Splitting::one_d) return;
        ptr_.assign(1, 0);
        ptr_.reserve(structure.cblks.size() + 1);
        auto const blok = [&](BlokId b) -> Blok const& { return structure.bloks[b]; };
        for (CblkId k = 0; k < structure.num_cblks(); ++k) {
            Cblk const& cblk = structure.cblks[k];
            Branch const& branch = partition.branches[partition.branch_of_cblk[k]];
            bool const cut = branch.first == branch.root && k < structure.first_kept_cblk &&
                             cblk.width() >= settings.split_width &&
                             cblk.rows_below() >= 2 * settings.split_rows &&
                             several_candidates_in_a_process(mapping, k);
            if (cut) {
                first_.push_back(cblk.first_blok);
                Index begin_row = cblk.width(); // first row of the current group
                first_.push_back(cblk.first_blok + 1);
                for (BlokId b = cblk.first_blok + 2; b < cblk.end_blok; ++b) {
                    bool const may_end = blok(b).facing_cblk != blok(b - 1).facing_cblk;
                    // The remaining rows must be enough for a group, too.
                    if (may_end && blok(b).panel_row - begin_row >= settings.split_rows &&
                        cblk.stride - blok(b).panel_row >= settings.split_rows / 2) {
                        first_.push_back(b);
                        begin_row = blok(b).panel_row;
                    }
                }
            }
            ptr_.push_back(checked_row_groups(first_.size()));
        }
    }

    /// The groups of the cblks of a part of the structure, whose blok b lies in blok number_of_blok[b] of the
    /// whole structure. A group without bloks there is empty.
    [[nodiscard]] RowGroups of_part(BlockStructure const& part,
                                    std::span<BlokId const> number_of_blok) const {
        RowGroups groups;
        if (ptr_.empty()) return groups;
        groups.ptr_.assign(1, 0);
        for (CblkId i = 0; i < part.num_cblks(); ++i) {
            auto const begin = number_of_blok.begin() + part.cblk(i).first_blok;
            auto const end = number_of_blok.begin() + part.cblk(i).end_blok;
            CblkId const k = part.number_of(i);
            for (std::int32_t g = ptr_[k]; g < ptr_[k + 1]; ++g)
                groups.first_.push_back(std::lower_bound(begin, end, first_[g]) - number_of_blok.begin());
            groups.ptr_.push_back(static_cast<std::int32_t>(groups.first_.size()));
        }
        return groups;
    }

    /// The number of groups of cblk k, the diagonal block included; 0 if it is not cut.
    [[nodiscard]] std::int32_t count(CblkId k) const { return ptr_.empty() ? 0 : ptr_[k + 1] - ptr_[k]; }
    [[nodiscard]] bool is_cut(CblkId k) const { return count(k) > 0; }
    [[nodiscard]] bool none_is_cut() const { return first_.empty(); }
    /// Group g has the bloks [first_blok(g), first_blok(g + 1)) of its cblk.
    [[nodiscard]] BlokId first_blok(BlockStructure const& structure, CblkId k, std::int32_t group) const {
        if (group == count(k)) return structure.cblks[k].end_blok;
        return first_[ptr_[k] + group];
    }

    /// Whether a part of the structure has no rows of the group.
    [[nodiscard]] bool is_empty(BlockStructure const& structure, CblkId k, std::int32_t group) const {
        return first_blok(structure, k, group) == first_blok(structure, k, group + 1);
    }

    /// The group of blok b of cblk k.
    [[nodiscard]] std::int32_t group_of(CblkId k, BlokId b) const {
        auto const begin = first_.begin() + ptr_[k];
        auto const end = first_.begin() + ptr_[k + 1];
        return static_cast<std::int32_t>(std::upper_bound(begin, end, b) - begin) - 1;
    }

    /// From the first to the last row of the group; k may not have all of them.
    [[nodiscard]] RowWindow window(BlockStructure const& structure, CblkId k, std::int32_t group) const {
        BlokId const first = first_blok(structure, k, group), end = first_blok(structure, k, group + 1);
        return {structure.bloks[first].first_row, structure.bloks[end - 1].end_row};
    }

    /// The first row of the group in the panel.
    [[nodiscard]] Index first_row(BlockStructure const& structure, CblkId k, std::int32_t group) const {
        return structure.bloks[first_blok(structure, k, group)].panel_row;
    }

    /// The number of rows of the group in the panel.
    [[nodiscard]] Index rows(BlockStructure const& structure, CblkId k, std::int32_t group) const {
        Blok const& first = structure.bloks[first_blok(structure, k, group)];
        Blok const& last = structure.bloks[first_blok(structure, k, group + 1) - 1];
        return last.panel_row + last.height() - first.panel_row;
    }

    /// The bloks of `source`, from `first` on, that lie in the group of cblk k: [begin, end).
    struct BlokRange {
        BlokId begin, end;
    };
    [[nodiscard]] BlokRange bloks_within(BlockStructure const& structure, Cblk const& source, BlokId first,
                                         CblkId k, std::int32_t group) const {
        RowWindow const rows = window(structure, k, group);
        auto const bloks = structure.bloks.begin();
        auto const end = bloks + source.end_blok;
        auto const begin =
            std::partition_point(bloks + first, end, [&](Blok const& b) { return b.first_row < rows.begin; });
        auto const past =
            std::partition_point(begin, end, [&](Blok const& b) { return b.first_row < rows.end; });
        return {static_cast<BlokId>(begin - bloks), static_cast<BlokId>(past - bloks)};
    }

    /// The number of rows of these bloks.
    [[nodiscard]] Index rows_within(BlockStructure const& structure, Cblk const& source, BlokId first,
                                    CblkId k, std::int32_t group) const {
        auto const [begin, end] = bloks_within(structure, source, first, k, group);
        auto const row_of = [&](BlokId b) {
            return b < source.end_blok ? structure.bloks[b].panel_row : source.stride;
        };
        return row_of(end) - row_of(begin);
    }

    template <class Archive> friend void describe(Archive& archive, RowGroups& groups) {
        archive(groups.ptr_, groups.first_);
    }

  private:
    static bool several_candidates_in_a_process(Mapping const& mapping, CblkId k) {
        Candidates const processes = mapping.processes_of(k);
        if (processes.count() == 1) return mapping.candidates[k].count() > 1;
        return mapping.threads > 1;
    }

    std::vector<std::int32_t> ptr_;
    std::vector<BlokId> first_;
};

} // namespace espalier
