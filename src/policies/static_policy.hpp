// The static schedule as a policy: each worker has an ordered list of tasks and runs exactly that, waiting
// for the next one while it is not ready. In: the lists that the simulation made. Out: the same order in
// every run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "policies/task_graph.hpp"

namespace espalier {

class StaticPolicy : public Policy {
  public:
    /// `lists[w]` is what worker w runs, in order. Error{internal} naming the task unless every task
    /// 0 .. num_tasks - 1 stands in exactly one list, once.
    StaticPolicy(std::vector<std::vector<TaskId>> const& lists, TaskId num_tasks);

    /// Marks the task ready. Returns the worker that has it in its list. Safe from any thread, no locks.
    WorkerId push(TaskId task, WorkerId by) override;
    /// The worker's next task if that one is ready. Called by one thread per worker.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool serves(WorkerId worker, TaskId task) const override { return owner_[task] == worker; }

    /// Back to the start, for another run of the same schedule. Not during a run.
    void reset();

    [[nodiscard]] int num_workers() const { return num_workers_; }

  private:
    // Written by the owner alone, hence a cache line of its own.
    struct alignas(64) Cursor {
        std::int64_t next = 0; ///< Position in order_.
        std::int64_t end = 0;
        std::int64_t begin = 0;
    };

    int num_workers_;
    std::vector<TaskId> order_;          ///< The lists, one after the other.
    std::vector<std::int32_t> position_; ///< Of each task in order_.
    std::vector<WorkerId> owner_;        ///< Of each task.
    std::vector<Cursor> cursors_;        ///< One per worker.
    // By position, so that a worker waiting for its next task watches one byte that is written once.
    std::unique_ptr<std::atomic<std::uint8_t>[]> ready_;
};

} // namespace espalier
