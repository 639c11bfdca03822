// NUMA-aware scheduling of fine-grained tasks (Rossignon, Hénon, Aumage, Thibault 2013; Rossignon 2015): one
// container of ready tasks for each NUMA node, shared by its workers. A task has an affinity for the node of
// its home; tasks without a home are distributed over the containers in turn.
#pragma once

#include <atomic>
#include <memory>

#include "policies/stealing_policy.hpp"

namespace espalier {

class NasPolicy : public StealingPolicy {
  public:
    /// `graph` must outlive this. With `strict` a task runs on the node of its container. Otherwise a worker
    /// whose container is empty takes tasks from the others, nearest first.
    NasPolicy(TaskGraph const& graph, PolicyMachine machine, bool strict = false);

    WorkerId push(TaskId task, WorkerId by) override;
    /// The distance of a steal is 1 plus the rank of the victim's node: 2 for the nearest ones.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override;
    /// True if the worker is the only one of the task's container.
    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override;

  private:
    bool strict_;
    std::atomic<std::uint32_t> turn_{0};               ///< The container of the next task without affinity.
    std::unique_ptr<std::atomic<int>[]> node_of_task_; ///< The container of each pushed task.
};

} // namespace espalier
