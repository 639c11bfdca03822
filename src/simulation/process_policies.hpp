// The policies of the runtime in a simulation of several processes: each process has its own policy object,
// as in the run, which numbers the threads of the process 0 .. threads - 1.
#pragma once

#include <memory>
#include <vector>

#include "mapping/machine_model.hpp"
#include "mapping/proportional.hpp"
#include "policies/make_policy.hpp"
#include "tasks/factor_tasks.hpp"

namespace espalier {

/// The policy of one process for factorization tasks. `graph`, whose homes are threads of the process, must
/// outlive it; `candidates`, by task, are threads of the process, too.
std::unique_ptr<Policy> make_factor_policy(ScheduleSettings const& settings, TaskGraph const& graph,
                                           MachineModel const& machine,
                                           std::vector<WorkerRange> const& candidates);

/// For each task the threads of its process that are candidates for the cblk it writes.
std::vector<WorkerRange> candidate_threads(FactorTasks const& tasks, BranchPartition const& partition,
                                           Mapping const& mapping);

/// One policy for all workers, which calls that of the task's or worker's process.
class ProcessPolicies : public Policy {
  public:
    /// `tasks` must outlive this.
    ProcessPolicies(ScheduleSettings const& settings, FactorTasks const& tasks, MachineModel const& machine,
                    std::vector<WorkerRange> const& candidates);

    WorkerId push(TaskId task, WorkerId by) override;
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override;
    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override;
    std::optional<Steal> on_start(WorkerId worker) override;
    [[nodiscard]] WorkerId worker_to_wake(TaskId task, WorkerId target, WorkerId home, int workers,
                                          IdleWorkers const& idle) const override;
    [[nodiscard]] std::int64_t steals(WorkerId worker) const override;
    [[nodiscard]] std::vector<std::int64_t> steals_by_distance() const override;

  private:
    /// Tasks and threads by the process's own numbers, so that a process with few tasks needs little memory.
    struct Process {
        TaskGraph graph; ///< The part that policies read.
        std::vector<TaskId> global;
        std::unique_ptr<Policy> policy;
    };
    [[nodiscard]] int process_of(TaskId task) const { return tasks_.tasks[task].process; }
    [[nodiscard]] Policy& policy_of(TaskId task) const { return *processes_[process_of(task)].policy; }
    [[nodiscard]] Policy& policy_at(WorkerId worker) const { return *processes_[worker / threads_].policy; }
    /// `worker` is a thread of the task's process, or any_worker.
    [[nodiscard]] WorkerId thread(WorkerId worker) const {
        return worker == any_worker ? any_worker : worker % threads_;
    }
    [[nodiscard]] WorkerId worker(int process, WorkerId thread) const {
        return thread == any_worker ? any_worker : process * threads_ + thread;
    }

    FactorTasks const& tasks_;
    int threads_;               ///< Of each process.
    std::vector<TaskId> local_; ///< The number of each task in its process.
    std::vector<Process> processes_;
};

} // namespace espalier
