// A scheduling policy decides where a ready task is queued and which task a free worker runs next. The
// runtime and the simulator call the same policy objects, so a policy knows worker numbers, priorities and
// homes, but no matrices and no clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/worker_range.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// A task that a worker took from a queue that is not its own.
struct Steal {
    WorkerId victim = any_worker; ///< The owner of the queue; for a shared queue its first worker.
    int distance = 0;             ///< At least 1. Each policy defines its own scale.
};

/// The workers of a run that have nothing to do at the moment.
class IdleWorkers {
  public:
    virtual ~IdleWorkers() = default;
    /// The idle worker with the lowest number in the range, which may be empty; any_worker if there is none.
    [[nodiscard]] virtual WorkerId first_in(WorkerRange range) const = 0;
    /// The idle worker with the highest number in the range.
    [[nodiscard]] virtual WorkerId last_in(WorkerRange range) const = 0;
};

/// All members may be called from several threads at once. The runtime orders memory accesses itself: the
/// writes of a task's predecessors are visible to the worker that pops the task, whatever the policy does.
class Policy {
  public:
    virtual ~Policy() = default;
    /// `task` is ready; `by` is the worker that made it ready, or the task's home at the start of a run.
    /// Returns the worker to wake for it, or any_worker if each one that may run it will do.
    virtual WorkerId push(TaskId task, WorkerId by) = 0;
    /// The next task for this worker, or no_task. Unless another thread is inside the policy, no_task implies
    /// that the policy holds no task that this worker may run: an idle worker then sleeps, and the run has
    /// failed if all workers sleep.
    virtual TaskId pop(WorkerId worker) = 0;
    /// Whether pop(worker) may return this task, which has been pushed.
    [[nodiscard]] virtual bool may_run(WorkerId /*worker*/, TaskId /*task*/) const { return true; }
    /// Whether the task, which has been pushed, is in a queue that the worker looks into before others do. If
    /// the worker itself made the task ready, no other worker need be woken for it.
    [[nodiscard]] virtual bool in_own_queue(WorkerId /*worker*/, TaskId /*task*/) const { return false; }
    /// The worker starts the task that its last pop() returned. Not called if that task had to wait for its
    /// resource; it will be pushed again. Returns where the task was stolen, if it was.
    virtual std::optional<Steal> on_start(WorkerId /*worker*/) { return std::nullopt; }
    /// The idle worker to wake for a task whose push() returned `target`: `target` itself, or the first one
    /// from the task's home on that may run the task, as workers with close numbers are close to each other
    /// in the machine. any_worker if there is none. `workers` is their total number.
    [[nodiscard]] virtual WorkerId worker_to_wake(TaskId task, WorkerId target, WorkerId home, int workers,
                                                  IdleWorkers const& idle) const;
    /// The number of tasks that this worker has stolen so far.
    [[nodiscard]] virtual std::int64_t steals(WorkerId /*worker*/) const { return 0; }
    /// The steals of all workers so far by distance; entry 0 is 0. Not during a run.
    [[nodiscard]] virtual std::vector<std::int64_t> steals_by_distance() const { return {}; }
};

} // namespace espalier
