// The pieces of a task: parts that write to different groups of rows of a panel, and that several workers can
// execute at the same time. They become tasks of their own (Splitting::two_d), or a task is divided into them
// while it runs (Splitting::dynamic):
//
//   factor(k)      first the diagonal block, then a solve for each group of rows below it
//   update(u, j), fan_in(p, j)   a part for each group of rows of j
//
// A wide diagonal block is divided, too, while the task runs: into stages of pieces (diagonal_stages.hpp).
#pragma once

#include <vector>

#include "tasks/factor_tasks.hpp"

namespace espalier {

/// The part of an update that one group of rows of the target receives.
struct UpdatePart {
    Index rows = 0; ///< 0: no part.
    double seconds = 0;
    BlokId begin = 0, end = 0; ///< Bloks of the last source that faces the target.
};

/// Sets parts[g] for each group g of `target`, which is cut, of the update by the bloks
/// structure.facing[first_facing .. end_facing).
void find_update_parts(BlockStructure const& structure, RowGroups const& groups, CostModel const& model,
                       Offset first_facing, Offset end_facing, CblkId target, std::vector<UpdatePart>& parts);

/// Whether `task`, which takes `seconds`, is divided while it runs if enough workers are idle. `groups` are
/// those of the settings.
inline bool is_divisible(FactorTask const& task, BranchPartition const& partition, RowGroups const& groups,
                         ScheduleSettings const& settings, double seconds) {
    return settings.splitting == Splitting::dynamic && settings.schedule != SchedulePolicy::static_order &&
           (task.kind == TaskKind::factor || task.kind == TaskKind::update ||
            task.kind == TaskKind::fan_in) &&
           seconds >= settings.split_seconds && groups.is_cut(cblk_of(task, partition));
}

/// The stages of a task of `tasks` that is_divisible(): the seconds of the pieces of each; 0 for a piece
/// without rows. A diagonal block is divided into parts of at least `split_width` columns.
std::vector<std::vector<double>> stages_of(FactorTask const& task, FactorTasks const& tasks,
                                           BlockStructure const& structure, BranchPartition const& partition,
                                           RowGroups const& groups, CostModel const& model,
                                           Index split_width);

} // namespace espalier
