// List scheduling on ranges of workers (Graham 1969): a free worker takes the ready task of highest priority
// among those it is a candidate for. If there is none, or one within its reach is clearly nearer to the
// critical path, it takes that one. As the workers are equally fast, each task starts on the worker that
// finishes it first. In: two ranges of workers for each task, its candidates and, around them, its reach.
//
// The queues form a binary tree over the workers. A task is queued at the O(log workers) nodes that make up
// its range, and is dropped from the others once a worker has taken it; a worker searches above its leaf.
#pragma once

#include <vector>

#include "mapping/proportional.hpp"
#include "simulation/engine.hpp"

namespace espalier {

/// The workers that may run a task.
struct TaskRange {
    Candidates candidates; ///< Preferred.
    Candidates reach;      ///< Contains the candidates.
};

/// The policy of static plans. For the simulation only: one thread.
class CandidateQueues : public Policy {
  public:
    /// `graph` (of which priorities are used) and `ranges`, by task, must outlive this.
    CandidateQueues(TaskGraph const& graph, std::vector<TaskRange> const& ranges, int workers);

    WorkerId push(TaskId task, WorkerId by) override;
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override {
        return ranges_[task].reach.contains(worker);
    }
    /// The candidate with the number nearest to that of the worker that made the task ready, as its data are
    /// likely near; else the worker within reach nearest to the candidates.
    [[nodiscard]] WorkerId worker_to_wake(TaskId task, WorkerId target, WorkerId home, int workers,
                                          IdleWorkers const& idle) const override;

  private:
    /// Heaps; node i has children 2i and 2i + 1, and the workers' leaves come last.
    using QueueTree = std::vector<std::vector<ReadyTask>>;

    void put(QueueTree& tree, Candidates range, ReadyTask ready) const;
    [[nodiscard]] std::vector<ReadyTask>* best_for(QueueTree& tree, WorkerId worker) const;

    TaskGraph const& graph_;
    std::vector<TaskRange> const& ranges_;
    int workers_;
    QueueTree by_candidates_;
    QueueTree by_reach_;       ///< Only tasks whose reach is wider than their candidates.
    std::vector<WorkerId> by_; ///< The worker that made each task ready.
    std::vector<bool> taken_;
};

/// The list schedule in which each task runs on its home. O(tasks log tasks). Error{internal} that names a
/// task whose home is not one of the workers.
StaticSchedule list_schedule(TaskGraph const& graph, int workers);

} // namespace espalier
