// The discrete-event engine: runs a task graph in virtual time. In: the graph with its costs, who is asked
// where tasks go, the number of workers, and a clock where times depend on who works. Out: when and where
// each task ran. The same Policy objects as in the runtime can be asked, so that what is simulated is what
// will run: one code, two clocks. Deterministic; O(tasks log tasks) and one look of the dispatcher a task.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "policies/task_graph.hpp"

namespace espalier {

/// Knows the tasks that are ready, and who may run them.
class Dispatcher {
  public:
    virtual ~Dispatcher() = default;
    /// Task became ready; `by` is the worker whose task made it so, or any_worker.
    virtual void push(TaskId task, WorkerId by) = 0;
    /// The worker among the idle ones that should be asked first to run a task just pushed; any_worker when
    /// none of them may. The worker that made it ready is idle at that moment.
    virtual WorkerId choose_idle(TaskId task, std::set<WorkerId> const& idle) = 0;
    /// The next task of a worker, or no_task.
    virtual TaskId pop(WorkerId worker) = 0;
    /// The worker runs the task that it popped last: its resource was free.
    virtual void took(WorkerId worker) { static_cast<void>(worker); }
    /// How the worker came to the last task that it popped, when it was somebody else's.
    [[nodiscard]] virtual std::optional<Steal> last_steal(WorkerId worker) const {
        static_cast<void>(worker);
        return std::nullopt;
    }
};

/// A policy of the runtime, asked as the runtime asks it: the worker that has made a task ready looks first
/// when that is in a queue of its own; for others whom_to_wake() decides.
class PolicyDispatcher : public Dispatcher {
  public:
    /// The engine knows the policy's workers by the numbers from `first_worker` on, `workers` of them: those
    /// of a process, or all there are. Tasks and homes are the policy's own, as in `graph`. `policy` and
    /// `graph` must outlive this.
    PolicyDispatcher(Policy& policy, TaskGraph const& graph, WorkerId first_worker = 0,
                     int workers = all_workers);
    void push(TaskId task, WorkerId by) override;
    WorkerId choose_idle(TaskId task, std::set<WorkerId> const& idle) override;
    TaskId pop(WorkerId worker) override { return policy_.pop(worker - first_worker_); }
    void took(WorkerId worker) override { policy_.took(worker - first_worker_); }
    [[nodiscard]] std::optional<Steal> last_steal(WorkerId worker) const override;

  private:
    static constexpr int all_workers = 1 << 30;

    /// Where the runtime begins to look: it pushes as worker 0 what is nobody's.
    [[nodiscard]] WorkerId home_of(TaskId task) const {
        return graph_.home.empty() ? 0 : std::max(graph_.home[task], WorkerId{0});
    }

    Policy& policy_;
    TaskGraph const& graph_;
    WorkerId first_worker_;
    int workers_;
    struct Pushed {
        WorkerId target = any_worker; ///< What the policy said.
        WorkerId owner = any_worker;  ///< Who made the task ready, if it is in a queue of its own.
    };
    std::vector<Pushed> pushed_; ///< By task.
};

/// How long tasks take where that depends on the worker, and on what else runs.
class TaskClock {
  public:
    virtual ~TaskClock() = default;
    /// `task` begins on `worker`: how long it takes. No messages.
    virtual double begin(TaskId task, WorkerId worker) = 0;
    /// It has ended.
    virtual void end(TaskId task, WorkerId worker) = 0;
};

/// Tasks that no worker does: messages.
class Transit {
  public:
    virtual ~Transit() = default;
    [[nodiscard]] virtual bool carries(TaskId task) const = 0;
    /// When the first of `task`, which becomes ready `now`, will be at the other end; in the order of `now`.
    virtual double reach(TaskId task, double now) = 0;
    /// When the last of it will be there, whose first is there `now`; in the order of `now`.
    virtual double arrive(TaskId task, double now) = 0;
};

/// `thief` began with `task`, which waited in a queue of `victim`.
struct TimedSteal {
    double time = 0;
    TaskId task = no_task;
    WorkerId thief = any_worker;
    WorkerId victim = any_worker;
    int distance = 0;
};

struct TimedRun {
    std::vector<double> start, end;         ///< Of each task, in the unit of graph.cost.
    std::vector<WorkerId> worker_of_task;   ///< any_worker for what no worker does.
    std::vector<std::vector<TaskId>> lists; ///< For each worker its tasks, in order.
    std::vector<double> busy;               ///< For each worker.
    std::vector<TimedSteal> steals;         ///< By time.
    double makespan = 0;

    [[nodiscard]] double idle(WorkerId worker) const { return makespan - busy[worker]; }
};

/// Runs `graph`, which must have costs and priorities, from time 0. Tasks that become ready at the same time
/// are offered by descending priority, then ascending number. Without a clock tasks take graph.cost;
/// `transit` is null where there are no messages. Error{internal} for a graph without costs or priorities,
/// and naming a task that never ran.
TimedRun simulate(TaskGraph const& graph, Dispatcher& dispatcher, int workers, Transit* transit = nullptr,
                  TaskClock* clock = nullptr);

} // namespace espalier
