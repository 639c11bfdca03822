// The discrete-event engine: runs a task graph in virtual time. In: the graph with its costs, who is asked
// where tasks go, the number of workers. Out: when and where each task ran. The same Policy objects as in the
// runtime can be asked, so that what is simulated is what will run: one code, two clocks. Deterministic;
// O(tasks log tasks) and one look of the dispatcher a task.
#pragma once

#include <set>
#include <vector>

#include "runtime/task_graph.hpp"

namespace espalier {

/// Knows the tasks that are ready, and who may run them.
class Dispatcher {
  public:
    virtual ~Dispatcher() = default;
    /// Task became ready; `by` is the worker whose task made it so, or any_worker.
    virtual void push(TaskId task, WorkerId by) = 0;
    /// The worker among the idle ones that should be asked first to run a task just pushed; any_worker when
    /// none of them may.
    virtual WorkerId choose_idle(TaskId task, std::set<WorkerId> const& idle) = 0;
    /// The next task of a worker, or no_task.
    virtual TaskId pop(WorkerId worker) = 0;
};

/// A policy of the runtime. Looks through the idle workers for one that serves the task.
class PolicyDispatcher : public Dispatcher {
  public:
    /// `policy` must outlive this.
    PolicyDispatcher(Policy& policy, TaskId num_tasks);
    void push(TaskId task, WorkerId by) override;
    WorkerId choose_idle(TaskId task, std::set<WorkerId> const& idle) override;
    TaskId pop(WorkerId worker) override { return policy_.pop(worker); }

  private:
    Policy& policy_;
    std::vector<WorkerId> target_; ///< What the policy said at the push of each task.
};

struct Simulation {
    std::vector<double> start, end;         ///< Of each task, in the unit of graph.cost.
    std::vector<WorkerId> worker_of_task;   ///< any_worker for what no worker does.
    std::vector<std::vector<TaskId>> lists; ///< For each worker its tasks, in order.
    std::vector<double> busy;               ///< For each worker.
    double makespan = 0;

    [[nodiscard]] double idle(WorkerId worker) const {
        return makespan - busy[static_cast<std::size_t>(worker)];
    }
};

/// Runs `graph` from time 0. Tasks that become ready at the same time are offered by descending priority,
/// then ascending number. Tasks t with in_transit[t] occupy no worker and begin as soon as they are ready:
/// messages; empty for none. Error{internal} naming a task that never ran.
Simulation simulate(TaskGraph const& graph, Dispatcher& dispatcher, int workers,
                    std::vector<bool> const& in_transit = {});

} // namespace espalier
