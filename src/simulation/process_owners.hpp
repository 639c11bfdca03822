// Which process owns each branch (Hénon, Ramet, Roman 2002): a coarse simulation of the whole machine, in
// which each branch goes to the candidate process that finishes it first, the arrival of contributions
// included. A cblk that is cut into groups of rows is shared by as many threads; then the work of a process
// counts more than the chain of panels, and branches spread. In: candidates, costs, contributions, groups,
// network. Out: a process for each branch.
#pragma once

#include <vector>

#include "mapping/cost_model.hpp"
#include "mapping/proportional.hpp"
#include "tasks/contributions.hpp"
#include "tasks/factor_tasks.hpp"
#include "tasks/row_groups.hpp"

namespace espalier {

/// Branches are placed in the order in which their last contribution is computed. O(contributions log
/// (branches + workers)), where each group of rows has contributions of its own.
std::vector<std::int32_t> choose_processes(BlockStructure const& structure, BranchPartition const& partition,
                                           Contributions const& contributions, CostModel const& model,
                                           Mapping const& mapping, MachineModel const& machine,
                                           PanelFormat const& format, RowGroups const& groups);

} // namespace espalier
