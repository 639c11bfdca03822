// NUMA-aware scheduling of fine-grained tasks (Rossignon, Hénon, Aumage, Thibault 2013; Rossignon 2015): one
// container of ready tasks for each NUMA node, shared by its workers. A task has an affinity for the node of
// its home; those that have none are dealt to the containers in turn.
#pragma once

#include <atomic>
#include <memory>

#include "policies/stealing_policy.hpp"

namespace espalier {

class NasPolicy : public StealingPolicy {
  public:
    /// `graph` must outlive this. `strict`: a task stays on the node whose container it was put into. Else
    /// the affinity is flexible: a worker whose container is empty takes from the others, nearest first.
    NasPolicy(TaskGraph const& graph, PolicyMachine machine, bool strict = false);

    WorkerId push(TaskId task, WorkerId by) override;
    /// The distance of a steal is 1 plus the rank of the victim's node: 2 for the nearest ones.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool serves(WorkerId worker, TaskId task) const override;
    /// A container of which the worker is the only one.
    [[nodiscard]] bool owns(WorkerId worker, TaskId task) const override;

  private:
    bool strict_;
    std::atomic<std::uint32_t> turn_{0};               ///< Of the next task without affinity.
    std::unique_ptr<std::atomic<int>[]> node_of_task_; ///< Since its push.
};

} // namespace espalier
