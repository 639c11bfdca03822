// Everything decided before numbers are touched: the branches, the task graphs of factorization and solve,
// the order in which each worker runs them, and who owns each panel.
#pragma once

#include <vector>

#include "schedule/list_schedule.hpp"
#include "schedule/schedule.hpp"

namespace espalier {

struct FactorPlan {
    BranchPartition partition;
    std::vector<double> cblk_cost; ///< Seconds by the cost model, updates to elsewhere included.
    FactorTasks factor;
    StaticSchedule factor_schedule; ///< Its makespan is the predicted factorization time.
    std::vector<double> start, end; ///< Of each factor task, predicted.
    Mapping mapping;                ///< Candidates of each cblk.
    TaskGraph solve;                ///< See build_solve_tasks.
    StaticSchedule solve_schedule;
    std::vector<WorkerId> owner_of_cblk; ///< The worker that runs the factor task of the cblk's branch.

    [[nodiscard]] double total_cost() const;
};

/// simulate_schedule for one process, and what solves need. `model` counts in seconds for the scalar and
/// factorization at hand. `node_of_worker` names the NUMA node of each of the `workers`; empty: there is one.
FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model, int workers,
                            std::vector<int> const& node_of_worker = {});

} // namespace espalier
