// What the dynamic policies have in common: queues of ready tasks by priority, some of which are a worker's
// own, and an account of what each worker has taken from the others.
//
// Why none of them overlooks a task (Policy::pop). A pushed task lies in exactly one queue, and stays there
// until a pop takes it: queues never exchange tasks. pop() returns no_task only after it has looked at every
// queue from which the worker may take anything; serves() says yes for exactly the tasks that lie in one of
// those. A queue that was not empty is looked at under its lock, never given up because the lock is held. So
// if a push has returned before pop() begins, either pop() finds the task or another pop() has taken it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "policies/policy_machine.hpp"
#include "policies/ready_queue.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// pop(w) is called by one thread per worker. When a run has gone to its end the policy is empty, and good
/// for another run of the same graph; after an error it has to be made anew. Workers that the machine does
/// not have find nothing.
class StealingPolicy : public Policy {
  public:
    void took(WorkerId worker) override;
    [[nodiscard]] std::int64_t steals(WorkerId worker) const override;
    [[nodiscard]] std::optional<Steal> last_steal(WorkerId worker) const override;
    [[nodiscard]] std::vector<std::int64_t> steals_by_distance() const override;

  protected:
    /// `graph`, for its priorities and homes (either may be missing), must outlive this. Error{internal} for
    /// a home that is no worker of the machine.
    StealingPolicy(TaskGraph const& graph, PolicyMachine machine, int num_queues);

    /// The worker whose memory the task works on, or any_worker.
    [[nodiscard]] WorkerId home_of(TaskId task) const {
        return graph_.home.empty() ? any_worker : graph_.home[task];
    }
    /// Who made the task ready: `by` if there is such a worker, else the task's home, else worker 0.
    [[nodiscard]] WorkerId origin(TaskId task, WorkerId by) const;

    void put(int queue, TaskId task) {
        queues_[queue].push(task, graph_.priority.empty() ? 0 : graph_.priority[task]);
    }
    [[nodiscard]] bool empty(int queue) const { return queues_[queue].empty(); }
    /// From a queue of the worker's own.
    TaskId take(WorkerId worker, int queue);
    /// From somebody else's.
    TaskId steal(WorkerId worker, int queue, WorkerId victim, int distance);

    TaskGraph const& graph_;
    PolicyMachine const machine_;

  private:
    struct alignas(64) Account { // written by its worker
        std::optional<Steal> last;
        std::int64_t steals = 0;
        std::vector<std::int64_t> by_distance;
    };

    std::unique_ptr<ReadyQueue[]> queues_;
    std::vector<Account> accounts_;
};

} // namespace espalier
