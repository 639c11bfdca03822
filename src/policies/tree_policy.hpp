// The tree of queues (Faverge, Ramet 2008; Faverge 2009): dynamic scheduling that follows proportional
// mapping. In: for each task its candidates, a range of workers. The distinct ranges are the nodes of a tree:
// leaves have one worker, the root has all, and the parent of a range is the smallest one that contains it.
// Each node has a priority queue.
//
//     [0,4)          A worker takes tasks from the nodes on its path from its leaf to the root, because it is
//     [0,2)  [2,4)   a candidate for them. Only then does it steal, from the nearest branches outwards.
//     0  1   2  3    Worker 0: 0, [0,2), [0,4); then 1 (one level up); then [2,4), 2, 3 (two levels up).
//
// On its path, a worker takes the task of highest priority; of equals, the innermost. The papers serve the
// leaf first, then the inner nodes outwards. A critical task at the root then waits for every ready task
// below it (docs/scheduling.md compares both).
//
// Ranges of siblings may share the worker at their border. Then the path of a worker has all nodes that
// contain it, by size, and the distance of a branch is the position of the first node of the path that
// contains it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "policies/stealing_policy.hpp"

namespace espalier {

class TreePolicy : public StealingPolicy {
  public:
    /// `range_of_task` has the candidates of each task of `graph`, which must outlive this. With `strict` a
    /// task runs only on the NUMA node of one of its candidates. Error{internal} for a range that is empty or
    /// has workers that are not in the machine, and as StealingPolicy.
    TreePolicy(TaskGraph const& graph, std::vector<WorkerRange> const& range_of_task, PolicyMachine machine,
               bool strict = false)
        : TreePolicy(graph, range_of_task, tree_nodes(graph, range_of_task, machine.num_workers()), machine,
                     strict) {}

    WorkerId push(TaskId task, WorkerId) override {
        put(node_of_task_[task], task);
        return any_worker;
    }

    /// Searches the queues below one ancestor of the worker after the other. The distance of a steal is the
    /// number of steps up the worker's path to that ancestor.
    TaskId pop(WorkerId worker) override {
        if (!machine_.has(worker)) return no_task;
        for (int node = most_urgent(path_[worker]); node >= 0; node = most_urgent(path_[worker]))
            if (TaskId const task = take(worker, node); task != no_task) return task;
        for (int level = 1; level < static_cast<int>(path_[worker].size()); ++level)
            if (TaskId const task = steal_below(level, worker); task != no_task) return task;
        return no_task;
    }

    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override {
        if (!machine_.has(worker)) return false;
        return !strict_ || machine_.any_on(nodes_[node_of_task_[task]], machine_.node_of(worker));
    }

    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override {
        return nodes_[node_of_task_[task]] == WorkerRange{worker, worker + 1};
    }

    [[nodiscard]] int num_nodes() const { return static_cast<int>(nodes_.size()); }

  private:
    static bool before(WorkerRange a, WorkerRange b) {
        return std::tuple(a.first, -a.end) < std::tuple(b.first, -b.end);
    }

    /// The nodes of the tree, in the order of before().
    static std::vector<WorkerRange> tree_nodes(TaskGraph const& graph,
                                               std::vector<WorkerRange> const& range_of_task, int workers) {
        if (std::ssize(range_of_task) != graph.num_tasks())
            throw Error(Status::internal,
                        fmt::format("scheduling policy: {} ranges of candidates for {} tasks",
                                    range_of_task.size(), graph.num_tasks()));
        std::vector<WorkerRange> nodes;
        for (TaskId task = 0; task < graph.num_tasks(); ++task) {
            WorkerRange const range = range_of_task[task];
            if (range.first < 0 || range.first >= range.end || range.end > workers)
                throw Error(
                    Status::internal,
                    fmt::format("scheduling policy: task {} has the candidates {} to {} of {} workers", task,
                                range.first, range.end, workers));
            if (nodes.empty() || nodes.back() != range) nodes.push_back(range);
        }
        for (WorkerId w = 0; w < workers; ++w) nodes.push_back({w, w + 1});
        nodes.push_back({0, workers});
        std::sort(nodes.begin(), nodes.end(), before);
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        return nodes;
    }

    TreePolicy(TaskGraph const& graph, std::vector<WorkerRange> const& range_of_task,
               std::vector<WorkerRange> nodes, PolicyMachine machine, bool strict)
        : StealingPolicy(graph, std::move(machine), static_cast<int>(nodes.size())), strict_(strict),
          nodes_(std::move(nodes)), path_(machine_.num_workers()) {
        node_of_task_.reserve(range_of_task.size());
        for (WorkerRange const range : range_of_task)
            node_of_task_.push_back(static_cast<int>(
                std::lower_bound(nodes_.begin(), nodes_.end(), range, before) - nodes_.begin()));
        for (int node = 0; node < num_nodes(); ++node) {
            nodes_from_.resize(nodes_[node].first + 1, node);
            for (WorkerId w = nodes_[node].first; w < nodes_[node].end; ++w) path_[w].push_back(node);
        }
        nodes_from_.push_back(num_nodes()); // each worker has a leaf
        for (auto& path : path_)
            std::sort(path.begin(), path.end(), [&](int a, int b) {
                return std::tuple(nodes_[a].count(), a) < std::tuple(nodes_[b].count(), b);
            });
    }

    /// The node of the path whose queue has the task of highest priority, the first of equals; -1 if all are
    /// empty.
    [[nodiscard]] int most_urgent(std::vector<int> const& path) const {
        int best = -1;
        double highest = ReadyQueue::no_priority;
        for (int const node : path) {
            double const priority = best_priority(node);
            if (priority <= highest) continue;
            highest = priority;
            best = node;
        }
        return best;
    }

    /// Steals from the nearest branch with tasks among those below node `level` of the worker's path. The
    /// nearest is found by the NUMA node and then the number of the branch's worker that is nearest in
    /// number; inner nodes, whose tasks belong to no single worker, come before leaves, and outer nodes
    /// before those inside them.
    TaskId steal_below(int level, WorkerId worker) {
        std::vector<int> const& path = path_[worker];
        WorkerRange const ancestor = nodes_[path[level]];
        int const here = machine_.node_of(worker);
        using Key = std::tuple<int, int, int, WorkerId>; // rank, number, -size, first
        for (;;) {
            int nearest = -1;
            Key least;
            for (int node = nodes_from_[ancestor.first]; node < nodes_from_[ancestor.end]; ++node) {
                if (empty(node)) continue;
                WorkerRange const range = nodes_[node];
                auto const hangs_from = [&](int at) { return nodes_[at].contains(range); };
                if (range.contains(worker) || !hangs_from(path[level]) ||
                    std::any_of(path.begin(), path.begin() + level, hangs_from) ||
                    (strict_ && !machine_.any_on(range, here)))
                    continue;
                WorkerId const victim = std::clamp(worker, range.first, range.end - 1);
                Key const key(machine_.rank(here, machine_.node_of(victim)), std::abs(victim - worker),
                              -range.count(), range.first);
                if (nearest >= 0 && least < key) continue;
                nearest = node;
                least = key;
            }
            if (nearest < 0) return no_task;
            // If another worker was faster, that one has made progress.
            if (TaskId const task = steal(worker, nearest, nodes_[nearest].first, level); task != no_task)
                return task;
        }
    }

    bool strict_;
    std::vector<WorkerRange> nodes_; ///< By first worker; larger ranges first.
    /// For each worker the first node that does not begin before it; and the end.
    std::vector<int> nodes_from_;
    std::vector<int> node_of_task_;
    std::vector<std::vector<int>> path_; ///< For each worker its leaf, ..., the root.
};

} // namespace espalier
