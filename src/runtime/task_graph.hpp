// A task graph is plain data, and a policy decides who runs what. The same policy objects serve the
// threads of the runtime and the simulator, so they know worker ids, priorities and homes, and nothing of
// matrices or clocks.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

using TaskId = std::int32_t;
using WorkerId = std::int32_t;
inline constexpr TaskId no_task = -1;

struct TaskGraph {
    std::vector<std::int32_t> num_predecessors; ///< For each task.
    std::vector<Offset> successor_ptr{0};       ///< num_tasks + 1 entries.
    std::vector<TaskId> successors;
    std::vector<double> cost;                   ///< Seconds, or any unit used throughout.
    std::vector<double> priority;               ///< Larger first: usually the longest path to an exit.
    std::vector<WorkerId> home;                 ///< The worker whose memory the task works on.

    [[nodiscard]] TaskId num_tasks() const { return static_cast<TaskId>(num_predecessors.size()); }
};

class Policy {
  public:
    virtual ~Policy() = default;
    /// Task `task` became ready; `by` is the worker that made it so (or that owns it, at the start).
    /// Returns the worker that should be woken for it, or -1 when any will do.
    virtual WorkerId push(TaskId task, WorkerId by) = 0;
    /// The next task for this worker, or no_task when it finds none now.
    virtual TaskId pop(WorkerId worker) = 0;
};

} // namespace espalier
