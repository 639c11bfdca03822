// The plan of a factorization, which is made before numerical work begins: the branches, the task graphs of
// factorization and solve, the order in which each worker runs them, and the owner of each panel. One process
// makes the plans of all. Each process gets its own part: its structure (local_structure.hpp), its tasks, and
// the messages that it sends and receives, all in local numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulation/candidate_queues.hpp"
#include "simulation/local_structure.hpp"
#include "simulation/schedule.hpp"
#include "tasks/solve_tasks.hpp"

namespace espalier {

inline constexpr BranchId no_branch = -1;

/// Facts about the plans of all processes; the same everywhere.
struct SharedPlan {
    MachineModel machine;
    ScheduleSettings settings; ///< static_order: tasks of the factorization run as in factor_schedule.
    double makespan = 0;       ///< Predicted time of the factorization in seconds.
    double solve_seconds = 0;  ///< Predicted time of a solve with one right-hand side.
    std::int64_t branches = 0;
    std::int64_t tasks = 0;
    std::int64_t solve_tasks = 0; ///< The most tasks of a process in a solve.
    std::int64_t messages = 0;
    double message_bytes = 0;
    bool cuts_panels = false;              ///< Some panel is cut into groups of rows (settings.splitting).
    std::vector<double> memory_of_process; ///< Bytes of panels and, at their peak, fan-in blocks.
};

/// One sentence that says why the splitting of these settings divides no column block on `workers` workers;
/// empty if it may divide some, or none should be. `cuts_panels` as in SharedPlan.
std::string splitting_without_effect(ScheduleSettings const& settings, int workers, bool cuts_panels);

/// The part of one process. Workers are its threads. Cblks and bloks are those of its structure, which with
/// several processes includes ghosts; each ghost is a branch by itself.
struct LocalPlan {
    std::int32_t process = 0;
    BranchPartition partition;
    /// Numbers in the plan of all; ascending. Empty with one process.
    std::vector<BranchId> number_of_branch;
    std::vector<std::int32_t> process_of_branch; ///< The owner of each branch. Empty with one process.
    std::vector<double> cblk_cost; ///< Seconds by the cost model, updates to other cblks included.
    RowGroups groups;
    std::vector<WorkerId> owner_of_cblk; ///< The worker whose memory has the panel; any_worker: a ghost.
    FactorTasks factor;                  ///< Without messages: fan_in tasks wait for an event each instead.
    /// By task: its number among the tasks and messages of all processes.
    std::vector<TaskId> number_of_task;
    std::vector<std::int32_t> outgoing;        ///< The blocks of factor.fan_in that are sent.
    std::vector<std::int32_t> incoming;        ///< The blocks that are received, by FanInBlock::number.
    std::int64_t num_events = 0;               ///< Number of fan-in tasks.
    StaticSchedule factor_schedule;            ///< The simulated schedule.
    std::vector<WorkerRange> candidates;       ///< For each factor task.
    SolveTasks solve;                          ///< The tasks of the process.
    std::vector<WorkerRange> solve_candidates; ///< For each task of `solve`.

    /// Cost of the cblks of this process.
    [[nodiscard]] double total_cost() const;
    [[nodiscard]] bool is_own(CblkId k) const { return owner_of_cblk[k] != any_worker; }
    /// The branch with this number in the plan of all processes; no_branch when it is not in this plan.
    [[nodiscard]] BranchId find_branch(std::int64_t number) const;
    [[nodiscard]] BranchId number_of(BranchId u) const {
        return number_of_branch.empty() ? u : number_of_branch[u];
    }
};

struct FactorPlan : SharedPlan, LocalPlan {
    /// Tasks and messages of all processes: one more than the highest number.
    [[nodiscard]] std::int64_t num_numbers() const { return tasks + messages; }
    /// A policy for one run of the factorization, or of a solve; refers to this plan.
    [[nodiscard]] std::unique_ptr<Policy> make_policy() const { return make_policy(factor.graph); }
    [[nodiscard]] std::unique_ptr<Policy> make_solve_policy() const { return make_solve_policy(solve.graph); }
    /// A policy for `graph`, which is a copy of factor.graph or solve.graph with other homes. The policy
    /// refers to this plan and to `graph`.
    [[nodiscard]] std::unique_ptr<Policy> make_policy(TaskGraph const& graph) const;
    [[nodiscard]] std::unique_ptr<Policy> make_solve_policy(TaskGraph const& graph) const;
};

struct ProcessPlans {
    SharedPlan shared;
    std::vector<LocalPlan> of_process;
    /// With several processes the structure of each, and the owner of each cblk of the whole structure. Empty
    /// with one process, which works on the whole structure.
    std::vector<BlockStructure> structures;
    std::vector<std::int32_t> process_of_cblk;
};

/// Plans for the processes of `machine`: the result of simulate_schedule, and the task graphs of solves.
/// `model` gives seconds for the scalar and the factorization. Near-linear in the tasks and in the bloks.
ProcessPlans make_process_plans(BlockStructure const& structure, CostModel const& model,
                                MachineModel const& machine, ScheduleOptions const& options = {});
/// The plans of a schedule of `structure`, which was made with `options`.
ProcessPlans deal_schedule(BlockStructure const& structure, Schedule schedule,
                           ScheduleOptions const& options);
/// For one process.
FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model,
                            MachineModel const& machine, ScheduleOptions const& options = {});
/// For one process of `workers` threads.
FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model, int workers,
                            std::vector<int> const& node_of_worker = {});

} // namespace espalier
