// Threads of another runtime that run a task graph: oneTBB or OpenMP. Our part counts predecessors
// (counted_run.hpp); theirs distributes the tasks that are ready.
#pragma once

#include <memory>

#include "core/names.hpp"
#include "espalier/task_runtime.hpp"
#include "runtime/graph_run.hpp"

namespace espalier {

template <> ESPALIER_HIDDEN inline constexpr auto spellings<TaskRuntime> =
    std::to_array<char const*>({"espalier", "tbb", "openmp"});

class OtherRuntime {
  public:
    virtual ~OtherRuntime() = default;
    /// As WorkerTeam::run(), without policy, priorities between threads, external events, polling and
    /// recording. Worker numbers are below the number of threads, and no two tasks run with the same number
    /// at the same time. After an error or a cancellation the object can be used again. One call at a time.
    virtual RunStats run(TaskGraph const& graph, TaskBody const& body, RunOptions const& options = {}) = 0;
};

/// Whether this build has the runtime.
[[nodiscard]] bool has_runtime(TaskRuntime runtime);
/// Error{unsupported} that names the runtime and what is missing, if this build does not have it.
void require_runtime(TaskRuntime runtime);

/// At most `threads` threads, the calling one included. Error as require_runtime(); Error{internal} for
/// TaskRuntime::espalier.
std::unique_ptr<OtherRuntime> make_other_runtime(TaskRuntime runtime, int threads);

/// Null if this build lacks the runtime.
std::unique_ptr<OtherRuntime> make_tbb_tasks(int threads);
std::unique_ptr<OtherRuntime> make_openmp_tasks(int threads);

} // namespace espalier
