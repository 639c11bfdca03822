// Dynamic 2D: panels of wide cblks with several candidate threads are cut into groups of rows, and each group
// becomes a task to solve for and to update. In: structure, branches, candidates. Out: for each cblk the
// first blok of each group.
//
//     cblk j    group 0   the diagonal block      diagonal(j)
//               group 1   some bloks below        solve(j, 1), updates of j by group: update(k, j, 1)
//               group 2   the next ones           solve(j, 2), ...
//
// A group ends where the facing cblk changes, so all rows that a source has for one facing cblk are in one
// group of every target.
#pragma once

#include <limits>
#include <span>
#include <vector>

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
    /// Cut are branches of a single cblk (not kept) of at least split_width columns that have several
    /// candidate workers in one process and rows for two groups below the diagonal block. Linear.
    RowGroups(BlockStructure const& structure, BranchPartition const& partition, Mapping const& mapping,
              ScheduleSettings const& settings);

    /// The groups of the cblks of a part of the structure, whose blok b lies in blok number_of_blok[b] of the
    /// whole structure. A group without bloks there is empty.
    [[nodiscard]] RowGroups of_part(BlockStructure const& part, std::span<BlokId const> number_of_blok) const;

    /// The number of groups of cblk k, the diagonal block included; 0 if it is not cut.
    [[nodiscard]] std::int32_t count(CblkId k) const { return ptr_.empty() ? 0 : ptr_[k + 1] - ptr_[k]; }
    [[nodiscard]] bool is_cut(CblkId k) const { return count(k) > 0; }
    /// Group g has the bloks [first_blok(g), first_blok(g + 1)) of its cblk.
    [[nodiscard]] BlokId first_blok(BlockStructure const& structure, CblkId k, std::int32_t group) const;
    /// The group of blok b of cblk k.
    [[nodiscard]] std::int32_t group_of(CblkId k, BlokId b) const;
    /// From the first to the last row of the group; k may not have all of them.
    [[nodiscard]] RowWindow window(BlockStructure const& structure, CblkId k, std::int32_t group) const;
    /// The first row of the group in the panel.
    [[nodiscard]] Index first_row(BlockStructure const& structure, CblkId k, std::int32_t group) const;
    /// The number of rows of the group in the panel.
    [[nodiscard]] Index rows(BlockStructure const& structure, CblkId k, std::int32_t group) const;
    /// The bloks of `source`, from `first` on, that lie in the group of cblk k: [begin, end).
    struct BlokRange {
        BlokId begin, end;
    };
    [[nodiscard]] BlokRange bloks_within(BlockStructure const& structure, Cblk const& source, BlokId first,
                                         CblkId k, std::int32_t group) const;
    /// The number of rows of these bloks.
    [[nodiscard]] Index rows_within(BlockStructure const& structure, Cblk const& source, BlokId first,
                                    CblkId k, std::int32_t group) const;

    template <class Archive> friend void describe(Archive& archive, RowGroups& groups) {
        archive(groups.ptr_, groups.first_);
    }

  private:
    std::vector<std::int32_t> ptr_;
    std::vector<BlokId> first_;
};

} // namespace espalier
