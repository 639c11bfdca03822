// Threads of another runtime that run a task graph: oneTBB or OpenMP. Our part counts predecessors
// (counted_run.hpp); theirs distributes the tasks that are ready.
#pragma once

#include <memory>
#include <thread>

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

/// Other runtimes start threads in the first run of a calling thread, and end the program if the system
/// refuses one. Therefore require() first starts and ends as many threads on trial. Another program may still
/// take the last threads in between.
class ThreadsToStart {
  public:
    /// `threads` includes the calling thread.
    explicit ThreadsToStart(int threads) : others_(threads - 1) {}
    /// Call this before each run. Error{out_of_memory} if the threads cannot be started.
    void require();

  private:
    int others_;
    std::thread::id caller_; ///< The calling thread of the last run.
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
