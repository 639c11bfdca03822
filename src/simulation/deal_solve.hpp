// Distributes the tasks of a solve to the processes. In: the tasks of all, and the plans of the processes,
// which have their branches. Out: the tasks of each process, in its own numbers, with its messages as events.
#pragma once

#include <vector>

#include "simulation/factor_plan.hpp"

namespace espalier {

/// Sets solve and solve_candidates of all plans. Linear in the tasks and edges, but for
/// searches of branches.
void deal_solve(SweepSchedule sweeps, MachineModel const& machine, std::vector<LocalPlan>& plans);

} // namespace espalier
