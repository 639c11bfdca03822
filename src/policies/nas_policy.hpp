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
    NasPolicy(TaskGraph const& graph, PolicyMachine machine, bool strict = false)
        : StealingPolicy(graph, machine, machine.num_nodes()), strict_(strict),
          node_of_task_(std::make_unique<std::atomic<int>[]>(graph.num_tasks())) {}

    WorkerId push(TaskId task, WorkerId) override {
        WorkerId const home = graph_.home_of(task);
        int const node = home != any_worker ? machine_.node_of(home)
                                            : static_cast<int>(turn_.fetch_add(1, std::memory_order_relaxed) %
                                                               static_cast<unsigned>(machine_.num_nodes()));
        node_of_task_[task].store(node, std::memory_order_relaxed);
        put(node, task);
        return any_worker;
    }

    /// The distance of a steal is 1 plus the rank of the victim's node: 2 for the nearest ones.
    TaskId pop(WorkerId worker) override {
        if (!machine_.has(worker)) return no_task;
        int const here = machine_.node_of(worker);
        if (TaskId const task = take(worker, here); task != no_task || strict_) return task;
        for (auto const& neighbor : machine_.from(here).subspan(1))
            if (TaskId const task = steal(worker, neighbor.node, machine_.workers_of(neighbor.node).front(),
                                          1 + neighbor.rank);
                task != no_task)
                return task;
        return no_task;
    }

    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override {
        return machine_.has(worker) &&
               (!strict_ || node_of_task_[task].load(std::memory_order_relaxed) == machine_.node_of(worker));
    }

    /// True if the worker is the only one of the task's container.
    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override {
        int const node = node_of_task_[task].load(std::memory_order_relaxed);
        return machine_.has(worker) && machine_.node_of(worker) == node &&
               machine_.workers_of(node).size() == 1;
    }

  private:
    bool strict_;
    std::atomic<std::uint32_t> turn_{0};               ///< The container of the next task without affinity.
    std::unique_ptr<std::atomic<int>[]> node_of_task_; ///< The container of each pushed task.
};

} // namespace espalier
