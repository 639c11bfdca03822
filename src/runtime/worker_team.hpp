// A team of persistent threads on the cores of a topology. It runs a function on every worker, or a graph.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "policies/policy.hpp"
#include "runtime/binding.hpp"
#include "runtime/graph_run.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// Whether `workers` workers gain nothing by a run of this graph, because all tasks together take hardly
/// longer than waking a thread. For a single worker, whether they take less than two milliseconds, so that an
/// interrupt may wait until they end. Each task takes `times` its cost, which is in seconds.
bool is_short(TaskGraph const& graph, int workers, double times = 1);

/// The threads start when they are needed for the first time, so a team whose runs are all short never starts
/// them.
///
/// Worker 0 is the thread that calls for_each_worker() or run(), so a team of one has no thread of its own.
/// It is bound only during these calls and then regains its affinity, so threads that the caller starts later
/// do not inherit one core. Workers 1, 2, ... are threads of the team. They are bound permanently if
/// place_workers() binds, and block all signals. Between calls they spin for about 50 us and then sleep.
///
/// One call at a time: a second one, from a body or from another thread, is Error{usage}. After an error or a
/// cancellation the team can be used again; a new policy is needed.
class WorkerTeam {
  public:
    static constexpr int max_workers = 4096;

    /// `threads` workers, or topology.default_threads() when 0. Error{usage} outside 0 .. max_workers. The
    /// first call that needs the threads throws Error{out_of_memory} if the system refuses to start one.
    explicit WorkerTeam(Topology const& topology, int threads = 0, bool bind = true);
    ~WorkerTeam();

    /// Starts the threads now if they do not run yet, so that no later call fails for lack of threads. Errors
    /// as above.
    void start();

    [[nodiscard]] int size() const;
    /// The core and node of each worker.
    [[nodiscard]] std::vector<WorkerPlace> const& places() const;
    /// The NUMA node of each worker, for a PolicyMachine.
    [[nodiscard]] std::vector<int> node_of_worker() const;
    /// Whether each worker is bound to a core of its own. Starts the threads.
    [[nodiscard]] bool bound() const;

    /// Starts recording: idle times here, tasks by their bodies through track(). Null stops it; until then
    /// the recorder must exist. Not during a call.
    void record(trace::Recorder* recorder);
    [[nodiscard]] trace::Recorder* recorder() const { return recorder_; }
    /// The track of a worker; null if nothing is recorded.
    [[nodiscard]] trace::Track* track(WorkerId worker) const {
        return tracks_.empty() ? nullptr : tracks_[worker];
    }

    /// body(w) once on every worker. The first exception is rethrown after all have returned.
    void for_each_worker(std::function<void(WorkerId)> const& body);
    /// Calls for_each_worker(body) if `together` is true. If it is false, the calling thread calls body(w)
    /// for all workers w, one after the other. That is faster if the work takes less time than waking
    /// threads.
    void for_each_worker(bool together, std::function<void(WorkerId)> const& body);

    /// Runs the graph: body(task, worker) for every task after all its predecessors and expected events.
    /// Ready tasks are pushed to `policy`; those without predecessors come first, pushed by their home
    /// (worker 0 if the graph has none). The writes of a task are visible to its successors, and those of all
    /// tasks to the caller. After the first exception of a body or of the policy no more tasks start; it is
    /// rethrown when the running tasks have returned. The policy may then still hold tasks, so the next run
    /// needs a new one. Error{cancelled} as RunOptions describes.
    /// Error{internal} for a standstill (a cycle, a policy that loses tasks, a static order that contradicts
    /// the graph), for a policy that returns a task twice or too early, and for wrong counts of predecessors
    /// in the graph.
    RunStats run(TaskGraph const& graph, Policy& policy, TaskBody const& body,
                 RunOptions const& options = {});

    /// Runs a short graph without events on the calling thread: body(task, worker) for one task after the
    /// other, in the order of their numbers. Predecessors of a task have lower numbers. The worker is the
    /// home of the task, or 0.
    void run_alone(TaskGraph const& graph, TaskBody const& body);

    /// An external event (a message) has occurred for `task`: counts one predecessor down and, if that was
    /// the last one, pushes the task by its home. From any thread, during a run that expects events; earlier
    /// writes of the calling thread are visible to the task. Returns false, without effect, if there is no
    /// run. Error{internal} for more events than expected, or than the task has predecessors.
    bool release(TaskId task) { return run_->release(task); }

    /// Ends the run with this error, as if a task had thrown it. From any thread. Returns false, without
    /// effect, if there is no run.
    bool stop(Error const& reason) { return run_->stop(reason); }

    /// Whether all workers of a run wait for tasks. From any thread. Remains true if nothing more can happen
    /// without an external event; otherwise it may change at once.
    [[nodiscard]] bool idle() { return run_->idle(); }
    /// Whether some worker of a run waits for tasks. From any thread; reads one number.
    [[nodiscard]] bool waits() const { return run_->waits(); }

    /// The number of these workers that have no task: they search, sleep, help with pieces, or have not
    /// begun. From a body during a run.
    [[nodiscard]] int count_idle(WorkerRange range) const { return run_->count_idle(range); }
    /// From the body of a task on `worker`: calls body(piece, w) for the pieces 0 .. pieces - 1, on this
    /// worker and on those of `helpers` that are idle or become so. The pieces must not depend on each other.
    /// Returns when all have ended and throws the first of their exceptions.
    void share(WorkerId worker, WorkerRange helpers, int pieces, PieceBody const& body) {
        run_->share(worker, helpers, pieces, body);
    }

  private:
    class Threads;
    std::unique_ptr<Threads> threads_;
    std::unique_ptr<GraphRun> run_;
    trace::Recorder* recorder_ = nullptr;
    std::vector<trace::Track*> tracks_;
};

} // namespace espalier
