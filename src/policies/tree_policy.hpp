// The tree of queues (Faverge, Ramet 2008; Faverge 2009): dynamic scheduling that follows proportional
// mapping. In: for each task its candidates, a range of workers. The distinct ranges are the nodes of a tree:
// leaves have one worker, the root has all, and the parent of a range is the smallest one that contains it.
// Each node has a priority queue.
//
//     [0,4)          A worker takes tasks from its leaf and then from the nodes on its path to the root: it
//     is a [0,2) [2,4)    candidate for them. Only then does it steal, from the nearest branches outwards. 0
//     1  2  3     Worker 0: 0, [0,2), [0,4); then 1 (one level up); then [2,4), 2, 3 (two levels up).
//
// Ranges of siblings may share the worker at their border. Then the path of a worker has all nodes that
// contain it, by size, and the distance of a branch is the position of the first node of the path that
// contains it.
#pragma once

#include <vector>

#include "policies/stealing_policy.hpp"

namespace espalier {

class TreePolicy : public StealingPolicy {
  public:
    /// `range_of_task` has the candidates of each task of `graph`, which must outlive this. With `strict` a
    /// task runs only on the NUMA node of one of its candidates. Error{internal} for a range that is empty or
    /// has workers that are not in the machine, and as StealingPolicy.
    TreePolicy(TaskGraph const& graph, std::vector<WorkerRange> const& range_of_task, PolicyMachine machine,
               bool strict = false);

    WorkerId push(TaskId task, WorkerId by) override;
    /// Searches the queues below one ancestor of the worker after the other. The distance of a steal is the
    /// number of steps up the worker's path to that ancestor.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override;
    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override {
        return nodes_[node_of_task_[task]] == WorkerRange{worker, worker + 1};
    }

    [[nodiscard]] int num_nodes() const { return static_cast<int>(nodes_.size()); }

  private:
    TreePolicy(TaskGraph const& graph, std::vector<WorkerRange> const& range_of_task,
               std::vector<WorkerRange> nodes, PolicyMachine machine, bool strict);
    TaskId steal_below(int level, WorkerId worker);

    bool strict_;
    std::vector<WorkerRange> nodes_; ///< By first worker; larger ranges first.
    std::vector<int>
        nodes_from_; ///< For each worker the first node that does not begin before it; and the end.
    std::vector<int> node_of_task_;
    std::vector<std::vector<int>> path_; ///< For each worker its leaf, ..., the root.
};

} // namespace espalier
