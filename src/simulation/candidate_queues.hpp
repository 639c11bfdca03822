// Ready tasks by candidate workers: a worker that becomes free takes the task of highest priority among those
// it is a candidate for. When there is none, or one within its reach lies clearly nearer to the critical
// path, it takes that. As these workers are alike in speed, each task goes to the one that would finish it
// first. In: two ranges of workers for each task, its candidates and, around them, its reach.
//
// The queues form a binary tree over the workers. A task waits in the O(log workers) nodes that make up its
// range, and is dropped from the others once it has been taken; a worker looks into the nodes above its leaf.
#pragma once

#include <vector>

#include "mapping/proportional.hpp"
#include "simulation/engine.hpp"

namespace espalier {

/// Who may run a task: candidates by preference, others within reach.
struct TaskRange {
    Candidates candidates;
    Candidates reach; ///< Contains the candidates.
};

class CandidateQueues : public Dispatcher {
  public:
    /// `graph` (for its priorities) and `ranges`, by task, must outlive this.
    CandidateQueues(TaskGraph const& graph, std::vector<TaskRange> const& ranges, int workers);

    void push(TaskId task, WorkerId by) override;
    /// The candidate nearest in number to the worker that made the task ready, as its data are likely near;
    /// else the worker within reach nearest to the candidates.
    WorkerId choose_idle(TaskId task, std::set<WorkerId> const& idle) override;
    TaskId pop(WorkerId worker) override;

  private:
    struct Entry {
        double priority;
        TaskId task;
        bool operator<(Entry const& other) const { // highest priority first, then the lower number
            return priority != other.priority ? priority < other.priority : task > other.task;
        }
    };
    /// Heaps; node i has children 2i and 2i + 1, and the workers' leaves come last.
    using QueueTree = std::vector<std::vector<Entry>>;

    void put(QueueTree& tree, Candidates range, Entry entry) const;
    [[nodiscard]] std::vector<Entry>* best_for(QueueTree& tree, WorkerId worker) const;

    TaskGraph const& graph_;
    std::vector<TaskRange> const& ranges_;
    int workers_;
    QueueTree by_candidates_;
    QueueTree by_reach_;       ///< Only tasks whose reach is wider.
    std::vector<WorkerId> by_; ///< Who made each task ready.
    std::vector<bool> taken_;
};

} // namespace espalier
