// The discrete-event engine: runs a task graph in virtual time under a policy. In: the graph with its costs,
// the policy, the number of workers, a network for messages, and a clock if times depend on the worker. Out:
// when and where each task ran. The policies are those of the runtime or planners with the same interface, so
// the simulation of a run calls the code that will run. Deterministic; O(tasks log tasks) and searches.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "policies/policy.hpp"

namespace espalier {

/// Task times that depend on the worker, on the time, or on what else runs.
class TaskClock {
  public:
    virtual ~TaskClock() = default;
    /// `task`, which is not a message, starts on `worker` at time `now`. Returns how long it takes.
    virtual double begin(TaskId task, WorkerId worker, double now) = 0;
    /// The task has ended.
    virtual void end(TaskId task, WorkerId worker) = 0;
};

/// The processor time that workers spend on a message at one of its ends.
struct Handling {
    WorkerRange workers; ///< The workers of the process at this end. They handle one message at a time.
    double seconds = 0;
};

/// Tasks that no worker runs: messages.
class Transit {
  public:
    enum class End { sender, receiver };

    virtual ~Transit() = default;
    [[nodiscard]] virtual bool carries(TaskId task) const = 0;
    /// The time at which the first byte of `task`, which is ready at time `now`, arrives. `now` increases.
    virtual double reach(TaskId task, double now) = 0;
    /// The time at which the last byte arrives, if the first one does at time `now`, which increases.
    virtual double arrive(TaskId task, double now) = 0;
    /// Set if the message makes no progress by itself: a worker without a task sends it before reach(), and
    /// receives it after its last byte has arrived.
    [[nodiscard]] virtual std::optional<Handling> handling(TaskId /*task*/, End /*end*/) const { return {}; }
    /// The seconds until `now` in which a communication thread used the core of the worker. A task that runs
    /// there takes that much longer.
    [[nodiscard]] virtual double taken_from(WorkerId /*worker*/, double /*now*/) const { return 0; }
    /// The time until which communication threads use the core of the worker without a gap; `now` if they do
    /// not.
    [[nodiscard]] virtual double free_from(WorkerId /*worker*/, double now) const { return now; }
};

/// Tasks that are divided into pieces when they start, if enough workers are idle. The pieces of a task
/// belong to stages. The worker of the task and idle ones execute those of a stage when all pieces of the
/// stage before have ended, and the task ends with the last stage. The first piece of each stage is for the
/// worker of the task.
class Divisions {
  public:
    virtual ~Divisions() = default;
    /// The workers that may help with `task`; a single one if it is never divided.
    [[nodiscard]] virtual WorkerRange helpers(TaskId task) const = 0;
    /// The number of helpers that must be idle, or help with another task: they are free in a moment.
    [[nodiscard]] virtual int least_idle() const = 0;
    /// The seconds of the pieces of each stage; 0 for a piece that does not exist.
    [[nodiscard]] virtual std::vector<std::vector<double>> divide(TaskId task) const = 0;
};

/// A piece of a divided task that another worker has executed.
struct TimedPiece {
    TaskId task = no_task;
    WorkerId worker = any_worker;
    double start = 0, end = 0;
};

/// `thief` started `task`, which it took from a queue of `victim`.
struct TimedSteal {
    double time = 0;
    TaskId task = no_task;
    WorkerId thief = any_worker;
    WorkerId victim = any_worker;
    int distance = 0;
};

/// The tasks of each worker, in order. Lists that follow simulated start times cannot deadlock.
struct StaticSchedule {
    std::vector<std::vector<TaskId>> lists; ///< By worker.
    std::vector<WorkerId> worker_of_task;   ///< any_worker for a message.
    double makespan = 0;                    ///< In the unit of graph.cost.
};

/// A thread has sent or received a message.
struct TimedTransfer {
    TaskId message = no_task;
    Transit::End end = Transit::End::sender;
    WorkerId worker = any_worker; ///< any_worker: a communication thread.
    double start = 0, finish = 0;
};

struct TimedRun : StaticSchedule {
    std::vector<double> start, end;    ///< By task, in the unit of graph.cost.
    std::vector<double> busy;          ///< By worker: time in tasks.
    std::vector<double> communication; ///< By worker: time in messages, or lost to a communication thread.
    std::vector<TimedSteal> steals;    ///< By time.
    std::vector<TimedPiece> helped;    ///< By start.
    /// Transfers by workers; Schedule adds those of communication threads.
    std::vector<TimedTransfer> transfers;

    [[nodiscard]] double idle(WorkerId worker) const {
        return std::max(0.0, makespan - busy[worker] - communication[worker]); // negative only by rounding
    }
};

/// Runs `graph`, which needs costs and priorities, from time 0. A worker that has no task first handles
/// messages, if there are any for workers, in the order in which they became ready. A worker that makes a
/// task ready in its own queue runs it if it has nothing better to do; otherwise policy.worker_to_wake()
/// chooses the worker. Tasks that become ready at the same time are offered by descending priority, then
/// ascending number. Without a clock tasks take graph.cost; `transit` is null if there are no messages, and
/// `divisions` if no task is divided. Error{internal} for a graph without costs or priorities, and for a task
/// that never ran, which the message names.
TimedRun simulate(TaskGraph const& graph, Policy& policy, int workers, Transit* transit = nullptr,
                  TaskClock* clock = nullptr, Divisions const* divisions = nullptr);

} // namespace espalier
