// The common part of the dynamic policies: priority queues of ready tasks, some of which belong to a worker,
// and counts of what each worker has stolen from the others.
//
// Why no policy overlooks a task (Policy::pop): a pushed task is in exactly one queue and stays there until a
// pop takes it, as tasks never move between queues. pop() returns no_task only after it has looked into every
// queue that the worker may take from, and may_run() holds for exactly the tasks in these queues. A queue
// that is not empty is always locked, never skipped because another thread holds its lock. So if a push has
// returned before pop() begins, either pop() finds the task or another pop() has taken it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "policies/policy.hpp"
#include "policies/policy_machine.hpp"
#include "policies/ready_queue.hpp"

namespace espalier {

/// pop(w) is called by one thread for each worker. After a complete run the policy is empty and ready for
/// another run of the same graph; after an error a new one is needed. A worker that is not in the machine
/// finds nothing.
class StealingPolicy : public Policy {
  public:
    std::optional<Steal> on_start(WorkerId worker) override {
        Account& account = accounts_[worker];
        if (!account.last) return std::nullopt;
        int const distance = account.last->distance;
        ++account.steals;
        if (std::ssize(account.by_distance) <= distance) account.by_distance.resize(distance + 1, 0);
        ++account.by_distance[distance];
        return account.last;
    }

    [[nodiscard]] std::int64_t steals(WorkerId worker) const override {
        return machine_.has(worker) ? accounts_[worker].steals : 0;
    }

    [[nodiscard]] std::vector<std::int64_t> steals_by_distance() const override {
        std::vector<std::int64_t> sum{0};
        for (Account const& account : accounts_) {
            if (account.by_distance.size() > sum.size()) sum.resize(account.by_distance.size(), 0);
            for (std::size_t d = 0; d < account.by_distance.size(); ++d) sum[d] += account.by_distance[d];
        }
        return sum;
    }

  protected:
    /// `graph`, of which priorities and homes are used, must outlive this. Error{internal} for a home that is
    /// not a worker of the machine.
    StealingPolicy(TaskGraph const& graph, PolicyMachine machine, int num_queues)
        : graph_(graph), machine_(std::move(machine)), queues_(std::make_unique<ReadyQueue[]>(num_queues)),
          accounts_(machine_.num_workers()) {
        for (TaskId task = 0; task < std::ssize(graph.home); ++task)
            if (graph.home[task] != any_worker && !machine_.has(graph.home[task]))
                throw Error(Status::internal,
                            fmt::format("scheduling policy: the home of task {} is worker {} of {}", task,
                                        graph.home[task], machine_.num_workers()));
    }

    /// The worker that made the task ready: `by` if it is in the machine, else the task's home, or 0.
    [[nodiscard]] WorkerId origin(TaskId task, WorkerId by) const {
        if (machine_.has(by)) return by;
        WorkerId const home = graph_.home_of(task);
        return home == any_worker ? 0 : home;
    }

    void put(int queue, TaskId task) { queues_[queue].push(task, graph_.priority_of(task)); }
    [[nodiscard]] bool empty(int queue) const { return queues_[queue].empty(); }
    /// ReadyQueue::no_priority if the queue is empty.
    [[nodiscard]] double best_priority(int queue) const { return queues_[queue].best_priority(); }
    /// The best task of a queue that belongs to the worker.
    TaskId take(WorkerId worker, int queue) {
        TaskId const task = queues_[queue].pop();
        if (task != no_task) accounts_[worker].last.reset();
        return task;
    }

    /// The best task of a queue that does not.
    TaskId steal(WorkerId worker, int queue, WorkerId victim, int distance) {
        TaskId const task = queues_[queue].pop();
        if (task != no_task) accounts_[worker].last = Steal{victim, distance};
        return task;
    }

    TaskGraph const& graph_;
    PolicyMachine const machine_;

  private:
    struct alignas(64) Account {   // written by its worker
        std::optional<Steal> last; ///< How the worker got the task that it popped last.
        std::int64_t steals = 0;
        std::vector<std::int64_t> by_distance;
    };

    std::unique_ptr<ReadyQueue[]> queues_;
    std::vector<Account> accounts_;
};

} // namespace espalier
