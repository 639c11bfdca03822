#include "runtime/tree_policy.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace espalier {

namespace {

bool before(WorkerRange a, WorkerRange b) {
    return std::tuple(a.count(), a.first) < std::tuple(b.count(), b.first);
}

/// The nodes of the tree, in the order of before().
std::vector<WorkerRange> tree_nodes(TaskGraph const& graph, std::vector<WorkerRange> const& range_of_task,
                                    int workers) {
    if (range_of_task.size() != graph.num_predecessors.size())
        throw Error(Status::internal, "scheduling policy: " + std::to_string(range_of_task.size()) +
                                          " ranges of candidates for " +
                                          std::to_string(graph.num_predecessors.size()) + " tasks");
    std::vector<WorkerRange> nodes;
    for (std::size_t task = 0; task < range_of_task.size(); ++task) {
        WorkerRange const range = range_of_task[task];
        if (range.first < 0 || range.first >= range.end || range.end > workers)
            throw Error(Status::internal, "scheduling policy: task " + std::to_string(task) +
                                              " has the candidates " + std::to_string(range.first) + " to " +
                                              std::to_string(range.end) + " of " + std::to_string(workers) +
                                              " workers");
        if (nodes.empty() || nodes.back() != range) nodes.push_back(range);
    }
    for (WorkerId w = 0; w < workers; ++w) nodes.push_back({w, w + 1});
    nodes.push_back({0, workers});
    std::sort(nodes.begin(), nodes.end(), before);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
}

} // namespace

TreePolicy::TreePolicy(TaskGraph const& graph, std::vector<WorkerRange> const& range_of_task,
                       PolicyMachine machine, bool strict)
    : TreePolicy(graph, range_of_task, tree_nodes(graph, range_of_task, machine.num_workers()), machine,
                 strict) {}

TreePolicy::TreePolicy(TaskGraph const& graph, std::vector<WorkerRange> const& range_of_task,
                       std::vector<WorkerRange> nodes, PolicyMachine machine, bool strict)
    : StealingPolicy(graph, std::move(machine), static_cast<int>(nodes.size())), strict_(strict),
      nodes_(std::move(nodes)), workers_(static_cast<std::size_t>(machine_.num_workers())) {
    node_of_task_.reserve(range_of_task.size());
    for (WorkerRange const range : range_of_task)
        node_of_task_.push_back(
            static_cast<int>(std::lower_bound(nodes_.begin(), nodes_.end(), range, before) - nodes_.begin()));
    for (int node = 0; node < num_nodes(); ++node)
        for (WorkerId w = nodes_[node].first; w < nodes_[node].end; ++w) workers_[w].path.push_back(node);
}

WorkerId TreePolicy::push(TaskId task, WorkerId) {
    put(node_of_task_[task], task);
    return any_worker;
}

TaskId TreePolicy::pop(WorkerId worker) {
    if (!machine_.has(worker)) return no_task;
    Worker& self = workers_[worker];
    for (int const node : self.path)
        if (TaskId const task = take(worker, node); task != no_task) return task;
    if (!self.knows_branches) find_branches(worker);
    for (Branch const branch : self.branches)
        if (TaskId const task = steal(worker, branch.node, nodes_[branch.node].first, branch.distance);
            task != no_task)
            return task;
    return no_task;
}

bool TreePolicy::serves(WorkerId worker, TaskId task) const {
    if (!machine_.has(worker)) return false;
    return !strict_ || machine_.any_on(nodes_[node_of_task_[task]], machine_.node_of(worker));
}

/// Nearest first: by levels up to the common ancestor, then by the NUMA node and the number of the branch's
/// worker that is nearest in number; inner nodes, whose tasks are nobody's own, before leaves, and outer ones
/// before those inside them.
void TreePolicy::find_branches(WorkerId worker) {
    Worker& self = workers_[worker];
    int const here = machine_.node_of(worker);
    std::vector<int> rank(static_cast<std::size_t>(machine_.num_nodes()));
    for (auto const& neighbour : machine_.from(here)) rank[neighbour.node] = neighbour.rank;

    using Key = std::tuple<int, int, int, int, WorkerId, int>; // level, rank, number, -size, first, node
    std::vector<Key> order;
    for (int node = 0; node < num_nodes(); ++node) {
        WorkerRange const range = nodes_[node];
        if (range.contains(worker) || (strict_ && !machine_.any_on(range, here))) continue;
        int level = 0;
        while (!nodes_[self.path[level]].contains(range)) ++level; // the root contains all
        WorkerId const nearest = std::clamp(worker, range.first, range.end - 1);
        order.emplace_back(level, rank[machine_.node_of(nearest)], std::abs(nearest - worker), -range.count(),
                           range.first, node);
    }
    std::sort(order.begin(), order.end());
    for (Key const& key : order) self.branches.push_back({std::get<5>(key), std::get<0>(key)});
    self.knows_branches = true;
}

} // namespace espalier
