// Everything decided before numbers are touched: the branches, the task graphs of factorization and solve,
// the order in which each worker runs them, and who owns each panel. One process makes the plans of all, and
// each gets what all share and its own part: its tasks, numbered from 0, and what comes and goes by messages.
#pragma once

#include <memory>
#include <vector>

#include "simulation/list_schedule.hpp"
#include "simulation/schedule.hpp"
#include "tasks/solve_tasks.hpp"

namespace espalier {

/// What all processes know.
struct SharedPlan {
    BranchPartition partition;
    std::vector<double> cblk_cost; ///< Seconds by the cost model, updates to elsewhere included.
    RowGroups groups;
    MachineModel machine;
    ScheduleSettings settings; ///< static_order: factor tasks run as in LocalPlan::factor_schedule.
    std::vector<std::int32_t> process_of_cblk; ///< Owners; empty when there is one process.
    std::vector<std::int32_t> process_of_branch;
    double makespan = 0; ///< Of the factorization, predicted.
    std::int64_t tasks = 0;
    std::int64_t messages = 0;
    double message_bytes = 0;
    std::vector<double> memory_of_process; ///< Bytes of panels and, at their most, fan-in blocks.
};

/// The part of one process. Workers are its threads.
struct LocalPlan {
    std::int32_t process = 0;
    FactorTasks factor;                  ///< Without messages: fan_in tasks wait for an event each instead.
    std::vector<TaskId> number_of_task;  ///< Of each among the tasks and messages of all processes.
    std::vector<std::int32_t> outgoing;  ///< Of factor.fan_in.blocks those that are sent,
    std::vector<std::int32_t> incoming;  ///< and those that come, by FanInBlock::number.
    std::int64_t num_events = 0;         ///< Fan-in tasks.
    StaticSchedule factor_schedule;      ///< As simulated.
    std::vector<WorkerRange> candidates; ///< Of each factor task.
    SolveTasks solve;
    StaticSchedule solve_schedule;       ///< Empty when there are several processes.
    std::vector<WorkerId> owner_of_cblk; ///< In whose memory its panel is; any_worker: of another process.
};

struct FactorPlan : SharedPlan, LocalPlan {
    [[nodiscard]] double total_cost() const; ///< Of the cblks of this process.
    /// Tasks and messages of all processes: one more than the highest number.
    [[nodiscard]] std::int64_t num_numbers() const { return tasks + messages; }
    [[nodiscard]] bool is_own(CblkId k) const { return owner_of_cblk[k] != any_worker; }
    /// A policy for one run of the factorization, or of a solve; refers to this plan.
    [[nodiscard]] std::unique_ptr<Policy> make_policy() const;
    [[nodiscard]] std::unique_ptr<Policy> make_solve_policy() const;
};

struct ProcessPlans {
    SharedPlan shared;
    std::vector<LocalPlan> of_process;
};

/// Plans for the processes of `machine`: the result of simulate_schedule, and the task graphs of solves.
/// `model` gives seconds for the scalar and the factorization. Linear in tasks and, for each process, in the
/// cblks.
ProcessPlans make_process_plans(BlockStructure const& structure, CostModel const& model,
                                MachineModel const& machine, ScheduleOptions const& options = {});
/// For one process.
FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model,
                            MachineModel const& machine, ScheduleOptions const& options = {});
/// For one process of `workers` threads.
FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model, int workers,
                            std::vector<int> const& node_of_worker = {});

} // namespace espalier
