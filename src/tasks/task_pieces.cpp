#include "tasks/task_pieces.hpp"

#include <algorithm>

#include "tasks/diagonal_stages.hpp"

namespace espalier {

void find_update_parts(BlockStructure const& structure, RowGroups const& groups, CostModel const& model,
                       Offset first_facing, Offset end_facing, CblkId target,
                       std::vector<UpdatePart>& parts) {
    parts.assign(groups.count(target), {});
    for (Offset f = first_facing; f < end_facing;) {
        BlokId const first = structure.facing[f];
        Cblk const& source = structure.cblk(structure.owner_of_blok[first]);
        UpdateShape whole = update_shape(structure, source, first);
        whole.is_cold = true;
        BlokId begin = first;
        for (std::int32_t g = 0; g < groups.count(target) && begin < source.end_blok; ++g) {
            BlokId const end = groups.bloks_within(structure, source, begin, target, g).end;
            if (end == begin) continue;
            UpdateShape const shape = part_of_update(structure, source, first, whole, begin, end);
            UpdatePart& part = parts[g];
            part.rows = std::max(part.rows, shape.rows);
            part.seconds += model.update(shape);
            part.begin = begin;
            part.end = begin = end;
        }
        f += whole.bloks;
    }
}

std::vector<std::vector<double>> stages_of(FactorTask const& task, FactorTasks const& tasks,
                                           BlockStructure const& structure, BranchPartition const& partition,
                                           RowGroups const& groups, CostModel const& model,
                                           Index split_width) {
    std::vector<double> pieces;
    if (task.kind == TaskKind::update) {
        std::vector<UpdatePart> parts;
        find_update_parts(structure, groups, model, task.first_facing, task.end_facing, task.target, parts);
        for (UpdatePart const& part : parts) pieces.push_back(part.seconds);
        return {pieces};
    }
    CblkId const k = cblk_of(task, partition);
    Index const width = structure.cblk(k).width();
    if (task.kind == TaskKind::fan_in) {
        FanInBlock const& block = tasks.fan_in.blocks[task.block];
        for (std::int32_t g = 0; g < groups.count(k); ++g) {
            Index const begin = groups.first_row(structure, k, g), end = begin + groups.rows(structure, k, g);
            Index const rows = tasks.fan_in.count_within(block, begin, end);
            pieces.push_back(rows > 0 ? model.add(rows, width) : 0);
        }
        return {pieces};
    }
    for (std::int32_t g = 1; g < groups.count(k); ++g)
        pieces.push_back(model.panel(width, groups.rows(structure, k, g)) - model.panel(width, 0));
    auto stages = diagonal_stages(model, width, split_width);
    stages.push_back(std::move(pieces));
    return stages;
}

} // namespace espalier
