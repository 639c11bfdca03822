// The static schedule as a policy: each worker has an ordered list of tasks, runs exactly that list, and
// waits while the next task is not ready. In: the lists that the simulation made.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "policies/policy.hpp"

namespace espalier {

class StaticPolicy : public Policy {
  public:
    /// `lists[w]` has the tasks of worker w in order. Error{internal} that names the task unless each of the
    /// tasks 0 .. num_tasks - 1 is in exactly one list, once. For one run.
    StaticPolicy(std::vector<std::vector<TaskId>> const& lists, TaskId num_tasks)
        : num_workers_(static_cast<int>(lists.size())), position_(num_tasks), owner_(num_tasks, any_worker),
          cursors_(lists.size()), ready_(std::make_unique<std::atomic<std::uint8_t>[]>(num_tasks)) {
        order_.reserve(num_tasks);
        for (WorkerId worker = 0; worker < num_workers_; ++worker) {
            Cursor& cursor = cursors_[worker];
            cursor.next = static_cast<std::int64_t>(order_.size());
            for (TaskId const task : lists[worker]) {
                if (task < 0 || task >= num_tasks)
                    reject(task, "in the list of worker {} does not exist", worker);
                if (owner_[task] != any_worker)
                    reject(task, "is in the lists of workers {} and {}", owner_[task], worker);
                owner_[task] = worker;
                position_[task] = static_cast<std::int32_t>(order_.size());
                order_.push_back(task);
            }
            cursor.end = static_cast<std::int64_t>(order_.size());
        }
        for (TaskId task = 0; task < num_tasks; ++task)
            if (owner_[task] == any_worker) reject(task, "is in no worker's list");
    }

    /// Marks the task ready. Returns the worker whose list has it. Lock-free.
    WorkerId push(TaskId task, WorkerId) override {
        ready_[position_[task]].store(1, std::memory_order_release);
        return owner_[task];
    }

    /// The worker's next task if that is ready. Called by one thread for each worker.
    TaskId pop(WorkerId worker) override {
        if (worker >= num_workers_) return no_task;
        Cursor& cursor = cursors_[worker];
        if (cursor.next == cursor.end || ready_[cursor.next].load(std::memory_order_acquire) == 0)
            return no_task;
        return order_[cursor.next++];
    }

    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override { return owner_[task] == worker; }

  private:
    template <class... Args> [[noreturn]] static void
    reject(TaskId task, fmt::format_string<Args const&...> what, Args const&... args) {
        throw Error(Status::internal,
                    fmt::format("static schedule: task {} ", task) + fmt::format(what, args...));
    }

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
