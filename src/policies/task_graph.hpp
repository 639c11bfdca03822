// A task graph is plain data, and a policy decides who runs what. The same policy objects serve the
// threads of the runtime and the simulator, so they know worker ids, priorities and homes, and nothing of
// matrices or clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

using TaskId = std::int32_t;
using WorkerId = std::int32_t;
inline constexpr TaskId no_task = -1;
inline constexpr WorkerId any_worker = -1;
inline constexpr std::int32_t no_resource = -1;

struct TaskGraph {
    std::vector<std::int32_t> num_predecessors; ///< For each task: tasks, and events from outside (messages).
    std::vector<Offset> successor_ptr{0};       ///< num_tasks + 1 entries.
    std::vector<TaskId> successors;
    std::vector<double> cost;     ///< Seconds, or any unit used throughout.
    std::vector<double> priority; ///< Larger first: usually the longest path to an exit.
    std::vector<WorkerId> home;   ///< The worker whose memory the task works on; any_worker: nobody's.
    /// Tasks with the same resource never run at the same time, in whatever order they come: what they add up
    /// in one place. Numbers from 0 to num_resources - 1, or no_resource. Empty: nobody excludes anybody.
    std::vector<std::int32_t> resource;
    std::int32_t num_resources = 0;

    [[nodiscard]] TaskId num_tasks() const { return static_cast<TaskId>(num_predecessors.size()); }
};

/// From a task to one that comes after it.
struct TaskEdge {
    TaskId from = no_task;
    TaskId to = no_task;
};

/// Fills in the successors and counts the predecessors of the tasks 0 .. num_tasks - 1; each list of
/// successors is in the order of the edges. Linear.
void connect_tasks(TaskGraph& graph, TaskId num_tasks, std::span<TaskEdge const> edges);

/// Error{internal} naming the task unless the graph's arrays fit together, all successors exist, and no task
/// is the successor of more tasks than it has predecessors. Returns the predecessors that are no tasks: the
/// events from outside that a run has to wait for. Cycles are found by the run, not here. Linear.
Offset check_graph(TaskGraph const& graph);

/// How a worker came to a task that was not waiting in a queue of its own.
struct Steal {
    WorkerId victim = any_worker; ///< Whose queue it was; of a shared one its first worker.
    int distance = 0;             ///< From 1 on; what is how far is the policy's own matter.
};

/// All members may be called from several threads at once. The runtime keeps memory in order itself: what
/// the predecessors of a task wrote is visible to the worker that pops it, whatever the policy does.
class Policy {
  public:
    virtual ~Policy() = default;
    /// Task `task` became ready; `by` is the worker that made it so (or that owns it, at the start).
    /// Returns the worker that should be woken for it, or any_worker when any that serves() it will do.
    virtual WorkerId push(TaskId task, WorkerId by) = 0;
    /// The next task for this worker, or no_task when it finds none now. Must not overlook: while nobody else
    /// is inside the policy, no_task means that it holds no task that this worker may run. (An idle worker
    /// sleeps on that answer; when all do, the run has failed.)
    virtual TaskId pop(WorkerId worker) = 0;
    /// May pop(worker) return this task? Tells whom to wake for a task pushed for any_worker.
    [[nodiscard]] virtual bool serves(WorkerId worker, TaskId task) const {
        static_cast<void>(worker), static_cast<void>(task);
        return true;
    }
    /// Is the task, since its push, in a queue of this worker's own, where it finds it before others do? Then
    /// nobody is woken for a task that the worker itself has made ready, as it is about to look.
    [[nodiscard]] virtual bool owns(WorkerId worker, TaskId task) const {
        static_cast<void>(worker), static_cast<void>(task);
        return false;
    }
    /// The worker runs the task that pop(worker) has returned last. Not called when that had to be left
    /// because its resource was held: it will be pushed again.
    virtual void took(WorkerId worker) { static_cast<void>(worker); }
    /// Tasks of others that this worker has run so far; for statistics.
    [[nodiscard]] virtual std::int64_t steals(WorkerId worker) const {
        static_cast<void>(worker);
        return 0;
    }
    /// Of the last task that pop(worker) has returned; for traces, asked by the worker itself.
    [[nodiscard]] virtual std::optional<Steal> last_steal(WorkerId worker) const {
        static_cast<void>(worker);
        return std::nullopt;
    }
    /// The steals so far of all workers, by distance: [0] is always 0. Between runs.
    [[nodiscard]] virtual std::vector<std::int64_t> steals_by_distance() const { return {}; }
};

} // namespace espalier
