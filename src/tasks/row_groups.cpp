#include "tasks/row_groups.hpp"

#include <algorithm>

namespace espalier {

namespace {

bool several_candidates_in_a_process(Mapping const& mapping, CblkId k) {
    Candidates const processes = mapping.processes_of(k);
    if (processes.count() == 1) return mapping.candidates[k].count() > 1;
    return mapping.threads > 1;
}

} // namespace

RowGroups::RowGroups(BlockStructure const& structure, BranchPartition const& partition,
                     Mapping const& mapping, ScheduleSettings const& settings) {
    if (settings.splitting != Splitting::two_d) return;
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
            Index begin_row = cblk.width(); // of the group at hand
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
        ptr_.push_back(static_cast<std::int32_t>(first_.size()));
    }
}

RowGroups RowGroups::of_part(BlockStructure const& part, std::span<BlokId const> number_of_blok) const {
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

BlokId RowGroups::first_blok(BlockStructure const& structure, CblkId k, std::int32_t group) const {
    if (group == count(k)) return structure.cblks[k].end_blok;
    return first_[ptr_[k] + group];
}

std::int32_t RowGroups::group_of(CblkId k, BlokId b) const {
    auto const begin = first_.begin() + ptr_[k];
    auto const end = first_.begin() + ptr_[k + 1];
    return static_cast<std::int32_t>(std::upper_bound(begin, end, b) - begin) - 1;
}

RowWindow RowGroups::window(BlockStructure const& structure, CblkId k, std::int32_t group) const {
    BlokId const first = first_blok(structure, k, group), end = first_blok(structure, k, group + 1);
    return {structure.bloks[first].first_row, structure.bloks[end - 1].end_row};
}

Index RowGroups::first_row(BlockStructure const& structure, CblkId k, std::int32_t group) const {
    return structure.bloks[first_blok(structure, k, group)].panel_row;
}

Index RowGroups::rows(BlockStructure const& structure, CblkId k, std::int32_t group) const {
    Blok const& first = structure.bloks[first_blok(structure, k, group)];
    Blok const& last = structure.bloks[first_blok(structure, k, group + 1) - 1];
    return last.panel_row + last.height() - first.panel_row;
}

RowGroups::BlokRange RowGroups::bloks_within(BlockStructure const& structure, Cblk const& source,
                                             BlokId first, CblkId k, std::int32_t group) const {
    RowWindow const rows = window(structure, k, group);
    auto const bloks = structure.bloks.begin();
    auto const end = bloks + source.end_blok;
    auto const begin =
        std::partition_point(bloks + first, end, [&](Blok const& b) { return b.first_row < rows.begin; });
    auto const past = std::partition_point(begin, end, [&](Blok const& b) { return b.first_row < rows.end; });
    return {static_cast<BlokId>(begin - bloks), static_cast<BlokId>(past - bloks)};
}

Index RowGroups::rows_within(BlockStructure const& structure, Cblk const& source, BlokId first, CblkId k,
                             std::int32_t group) const {
    auto const [begin, end] = bloks_within(structure, source, first, k, group);
    auto const row_of = [&](BlokId b) {
        return b < source.end_blok ? structure.bloks[b].panel_row : source.stride;
    };
    return row_of(end) - row_of(begin);
}

} // namespace espalier
