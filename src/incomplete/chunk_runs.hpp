// Runs the chunks of an execution order in the order of a forward or of a backward sweep, on one of:
// - the lists of the order, with point-to-point waits: the static schedule of Espalier's runtime;
// - Espalier's runtime with another policy: the tree of queues, places, or nas;
// - another runtime: oneTBB or OpenMP.
// All but the first run the chunks as tasks of a graph. The rows are stored in the execution order in any
// case.
#pragma once

#include <memory>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "espalier/task_runtime.hpp"
#include "incomplete/execution_order.hpp"
#include "policies/policy.hpp"
#include "runtime/other_runtime.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

/// The runtime of the chunks.
struct ChunkRuntime {
    TaskRuntime runtime = TaskRuntime::espalier;
    /// Used with TaskRuntime::espalier. The policies `static_order` and `automatic` run the lists of the
    /// execution order. `nas` distributes chunks over the nodes of the team; with `strict` they run only
    /// there. ScheduleSettings::allocation places the factor on every runtime.
    ScheduleSettings schedule{};
    /// Distances between the NUMA nodes of the topology, for the policy; may be empty.
    std::vector<double> node_distances{};

    [[nodiscard]] bool uses_lists() const {
        return runtime == TaskRuntime::espalier && (schedule.schedule == SchedulePolicy::static_order ||
                                                    schedule.schedule == SchedulePolicy::automatic);
    }
};

/// The NUMA nodes of the workers of a team.
struct TeamNodes {
    std::vector<int> of_worker; ///< 0, 1, ... without gaps.
    std::vector<int> os_index;  ///< The system's number of each node.
};
[[nodiscard]] TeamNodes nodes_of(WorkerTeam const& team);

/// The part of a solve that is done: L y = b, U x = y, or both.
enum class TriangularPart : std::uint8_t { lower, upper, both };

/// For each task of an acyclic graph, the cost of the longest path from it to an exit, including the task.
std::vector<double> path_priorities(TaskGraph const& graph);

class ChunkRuns {
  public:
    /// `order` and `team` must outlive this. Unless lists are used, takes order.tasks. Error{unsupported} if
    /// this build lacks the runtime.
    ChunkRuns(ExecutionOrder& order, WorkerTeam& team, ChunkRuntime const& runtime);

    /// Calls forward(chunk, worker) for all chunks (unless `part` is upper), and then backward(chunk, worker)
    /// (unless it is lower), each after the chunks that it depends on. The bodies must not throw if the lists
    /// of the order are used. Tasks are cancelled as `options` says; lists run to their end.
    void run(TriangularPart part, TaskBody const& forward, TaskBody const& backward,
             RunOptions const& options = {});

    /// The number of points at which a task waits for another one, in a forward and a backward sweep: the
    /// waits of the lists, or the edges of the two graphs.
    [[nodiscard]] Offset synchronizations() const;

  private:
    struct Tasks {
        TaskGraph graph;
        std::unique_ptr<Policy> policy; ///< Null for a runtime other than Espalier's.
    };

    void run_tasks(Tasks& tasks, TaskBody const& body, RunOptions const& options);
    [[nodiscard]] std::unique_ptr<Policy> make_policy_for(TaskGraph const& graph) const;

    ExecutionOrder const& order_;
    WorkerTeam& team_;
    ChunkRuntime runtime_;
    ChunkProgress progress_;
    std::unique_ptr<OtherRuntime> other_;
    std::unique_ptr<Tasks> forward_, backward_; ///< Null if the lists of the order are used.
};

} // namespace espalier
