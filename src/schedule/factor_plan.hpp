// Everything decided before numbers are touched: the branches, the task graphs of factorization and solve,
// the order in which each worker runs them, and who owns each panel.
#pragma once

#include <memory>
#include <vector>

#include "schedule/list_schedule.hpp"
#include "schedule/schedule.hpp"

namespace espalier {

struct FactorPlan {
    BranchPartition partition;
    std::vector<double> cblk_cost; ///< Seconds by the cost model, updates to elsewhere included.
    RowGroups groups;
    FactorTasks factor;
    StaticSchedule factor_schedule;      ///< As simulated: its makespan is the predicted factorization time.
    std::vector<double> start, end;      ///< Of each factor task, predicted.
    std::vector<WorkerRange> candidates; ///< Of each factor task.
    MachineModel machine;
    PolicySettings policy; ///< Who runs factor tasks; static_order: factor_schedule.
    Mapping mapping;       ///< Candidates of each cblk.
    TaskGraph solve;       ///< See build_solve_tasks.
    StaticSchedule solve_schedule;
    std::vector<WorkerId> owner_of_cblk; ///< In whose memory its panel is.

    [[nodiscard]] double total_cost() const;
    /// A policy for one run of the factorization; refers to this plan.
    [[nodiscard]] std::unique_ptr<Policy> make_policy() const;
};

struct PlanOptions {
    int workers = 1;
    std::vector<int> node_of_worker;    ///< NUMA node of each worker; empty: there is one.
    std::vector<double> node_distances; ///< As MachineModel's.
    PolicySettings policy{.kind = SchedulePolicy::static_order};
    SplitOptions split;
};

/// simulate_schedule for one process, and what solves need. `model` counts in seconds for the scalar and
/// factorization at hand.
FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model,
                            PlanOptions const& options);
/// A static schedule.
FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model, int workers,
                            std::vector<int> const& node_of_worker = {});

} // namespace espalier
