// The policies of the runtime in a simulation of several processes: each process has a policy object of its
// own, as it would in the run, which knows its threads by the numbers 0 .. threads - 1.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mapping/machine_model.hpp"
#include "mapping/proportional.hpp"
#include "policies/make_policy.hpp"
#include "simulation/engine.hpp"
#include "tasks/factor_tasks.hpp"

namespace espalier {

/// Makes the policy of a process for the factorization's tasks. `graph` has homes by the process's own
/// threads, and must outlive the policy; `candidates` likewise are threads, by task.
std::unique_ptr<Policy> make_factor_policy(ScheduleSettings const& settings, TaskGraph const& graph,
                                           MachineModel const& machine,
                                           std::vector<WorkerRange> const& candidates);

/// For each task the threads of its process that are candidates for what it writes.
std::vector<WorkerRange> candidate_threads(FactorTasks const& tasks, BranchPartition const& partition,
                                           Mapping const& mapping);

class ProcessPolicies : public Dispatcher {
  public:
    /// `tasks` must outlive this.
    ProcessPolicies(ScheduleSettings const& settings, FactorTasks const& tasks, MachineModel const& machine,
                    std::vector<WorkerRange> const& candidates);

    void push(TaskId task, WorkerId by) override;
    WorkerId choose_idle(TaskId task, std::set<WorkerId> const& idle) override;
    TaskId pop(WorkerId worker) override;
    void took(WorkerId worker) override;

    [[nodiscard]] std::int64_t steals(WorkerId worker) const;
    [[nodiscard]] std::optional<Steal> last_steal(WorkerId worker) const override;
    /// Of all processes.
    [[nodiscard]] std::vector<std::int64_t> steals_by_distance() const;

  private:
    /// Tasks and threads by the process's own numbers: one that has few tasks needs little memory.
    struct Process {
        TaskGraph graph; ///< What policies look at.
        std::vector<TaskId> global;
        std::unique_ptr<Policy> policy;
        std::optional<PolicyDispatcher> dispatcher;
    };
    [[nodiscard]] Process& process_at(WorkerId worker) const { return *processes_[worker / threads_]; }
    [[nodiscard]] PolicyDispatcher& dispatcher_of(TaskId task) const {
        auto const process = static_cast<std::size_t>(tasks_.tasks[task].process);
        return *processes_[process]->dispatcher;
    }

    FactorTasks const& tasks_;
    int threads_;               ///< Of each process.
    std::vector<TaskId> local_; ///< Of each task its number in its process.
    std::vector<std::unique_ptr<Process>> processes_;
};

} // namespace espalier
