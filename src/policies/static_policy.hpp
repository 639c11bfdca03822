// The static schedule as a policy: each worker has an ordered list of tasks, runs exactly that list, and
// waits while the next task is not ready. In: the lists that the simulation made. Out: the same order in
// every run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "policies/policy.hpp"

namespace espalier {

class StaticPolicy : public Policy {
  public:
    /// `lists[w]` has the tasks of worker w in order. Error{internal} that names the task unless each of the
    /// tasks 0 .. num_tasks - 1 is in exactly one list, once. For one run.
    StaticPolicy(std::vector<std::vector<TaskId>> const& lists, TaskId num_tasks);

    /// Marks the task ready. Returns the worker whose list has it. Lock-free.
    WorkerId push(TaskId task, WorkerId by) override;
    /// The worker's next task if that is ready. Called by one thread for each worker.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override { return owner_[task] == worker; }

  private:
    // Written by its worker only, hence a cache line of its own.
    struct alignas(64) Cursor {
        std::int64_t next = 0; ///< Position in order_.
        std::int64_t end = 0;
    };

    int num_workers_;
    std::vector<TaskId> order_;          ///< The lists, one after the other.
    std::vector<std::int32_t> position_; ///< The position of each task in order_.
    std::vector<WorkerId> owner_;        ///< The worker of each task.
    std::vector<Cursor> cursors_;        ///< By worker.
    // By position: a worker that waits for its next task reads one byte, which is written once.
    std::unique_ptr<std::atomic<std::uint8_t>[]> ready_;
};

} // namespace espalier
