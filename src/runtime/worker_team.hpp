// A team of persistent threads standing on the cores of a topology, and the two things it does: the same
// function once on every worker, and a task graph under a policy.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "policies/policy.hpp"
#include "runtime/binding.hpp"
#include "runtime/graph_run.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// Worker 0 is the thread that calls for_each_worker() or run(), so a team of one has no thread of its own
/// and costs no hand-over. It is bound during these calls only and then gets its affinity back: the
/// caller's other threads, or those it starts later, never inherit one core. Workers 1, 2, ... are threads
/// of the team, bound for life (place_workers() says when), and block all signals. Between calls they spin
/// for some 50 us and then sleep.
///
/// One call at a time: a second one, from a body or from another thread, is Error{usage}. After an error or a
/// cancellation the team is as good as new; the policy is not, and has to be made anew or reset.
class WorkerTeam {
  public:
    static constexpr int max_workers = 4096;

    /// `threads` workers, or topology.default_threads() when 0. Error{usage} outside 0 .. max_workers;
    /// Error{internal} when the system refuses to start a thread.
    explicit WorkerTeam(Topology const& topology, int threads = 0, bool bind = true);
    ~WorkerTeam();
    WorkerTeam(WorkerTeam const&) = delete;
    WorkerTeam& operator=(WorkerTeam const&) = delete;

    [[nodiscard]] int size() const;
    /// Where each worker stands.
    [[nodiscard]] std::vector<WorkerPlace> const& places() const;
    /// Workers have each a core of their own and the system agreed to bind them.
    [[nodiscard]] bool bound() const;

    /// Record from now on what the workers do: idle times here, tasks by their bodies through track(). Null
    /// ends it. The recorder must live until then. Not during a call.
    void record(trace::Recorder* recorder);
    [[nodiscard]] trace::Recorder* recorder() const { return recorder_; }
    /// Where worker `worker` records; null when nothing is recorded.
    [[nodiscard]] trace::Track* track(WorkerId worker) const {
        return tracks_.empty() ? nullptr : tracks_[worker];
    }

    /// body(w) once on every worker. The first exception is rethrown after all have returned.
    void for_each_worker(std::function<void(WorkerId)> const& body);

    /// Execute the graph: body(task, worker) for every task, after all its predecessors and the events
    /// announced for it. Ready tasks go to `policy`, those without predecessors first, by their home
    /// (worker 0 where the graph names none). What a task wrote is visible to its successors; what all wrote
    /// is visible to the caller.
    /// The first exception of a body or of the policy ends the issue of tasks and is rethrown when those
    /// that run have returned. Error{cancelled} as RunOptions says. Error{internal} when the run comes to a
    /// standstill (a cycle, a policy that loses tasks, a static order that contradicts the graph), when the
    /// policy hands out a task twice or too early, or when the graph's counts are wrong.
    RunStats run(TaskGraph const& graph, Policy& policy, TaskBody const& body,
                 RunOptions const& options = {});

    /// An event from outside (a message) has come in for `task`: counts one predecessor down, and pushes the
    /// task by its home if that was the last. From any thread, during a run that announced events; what the
    /// calling thread wrote before is visible to the task. False, and nothing done, when no run goes on.
    /// Error{internal} for more events than were announced, or than the task has predecessors.
    bool release(TaskId task);

    /// End the run from outside with this error, as if a task had thrown it. From any thread. False, and
    /// nothing done, when no run goes on.
    bool stop(Error const& reason);

    /// Do all workers wait for tasks? From any thread. True for good when a run goes on in which nothing more
    /// can happen without an event from outside; else an answer of the moment, and false when no run goes on.
    [[nodiscard]] bool idle();
    /// Does a worker wait for tasks, in a run that goes on? From any thread, at the cost of reading a number;
    /// an answer of the moment.
    [[nodiscard]] bool waits() const;

  private:
    class Threads;
    std::unique_ptr<Threads> threads_;
    std::unique_ptr<GraphRun> run_;
    trace::Recorder* recorder_ = nullptr;
    std::vector<trace::Track*> tracks_;
};

} // namespace espalier
