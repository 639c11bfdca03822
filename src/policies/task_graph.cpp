// A task graph from its edges, and its consistency check.
#include "policies/task_graph.hpp"

#include <numeric>
#include <string>

namespace espalier {

namespace {

[[noreturn]] void reject_graph(std::string const& what) {
    throw Error(Status::internal, "task graph: " + what);
}

void check_size(std::size_t size, std::size_t tasks, char const* name) {
    if (size != 0 && size != tasks)
        reject_graph(std::string(name) + " has " + std::to_string(size) + " entries for " +
                     std::to_string(tasks) + " tasks");
}

} // namespace

void connect_tasks(TaskGraph& graph, TaskId num_tasks, std::span<TaskEdge const> edges) {
    graph.num_predecessors.assign(num_tasks, 0);
    graph.successor_ptr.assign(static_cast<std::size_t>(num_tasks) + 1, 0);
    for (auto const& [from, to] : edges) {
        ++graph.num_predecessors[to];
        ++graph.successor_ptr[from + 1];
    }
    std::partial_sum(graph.successor_ptr.begin(), graph.successor_ptr.end(), graph.successor_ptr.begin());
    graph.successors.resize(edges.size());
    std::vector<Offset> at(graph.successor_ptr.begin(), graph.successor_ptr.end() - 1);
    for (auto const& [from, to] : edges) graph.successors[at[from]++] = to;
}

Offset check_graph(TaskGraph const& graph) {
    std::size_t const tasks = graph.num_predecessors.size();
    if (graph.successor_ptr.size() != tasks + 1)
        reject_graph("successor_ptr has " + std::to_string(graph.successor_ptr.size()) + " entries for " +
                     std::to_string(tasks) + " tasks");
    check_size(graph.cost.size(), tasks, "cost");
    check_size(graph.priority.size(), tasks, "priority");
    check_size(graph.home.size(), tasks, "home");
    if (graph.successor_ptr.front() != 0 ||
        graph.successor_ptr.back() != static_cast<Offset>(graph.successors.size()))
        reject_graph("successor_ptr does not span the successors");

    for (std::size_t task = 0; task < tasks; ++task)
        if (graph.successor_ptr[task] > graph.successor_ptr[task + 1])
            reject_graph("successor_ptr decreases at task " + std::to_string(task));

    std::vector<std::int32_t> unmet = graph.num_predecessors;
    for (std::size_t task = 0; task < tasks; ++task) {
        for (Offset e = graph.successor_ptr[task]; e < graph.successor_ptr[task + 1]; ++e) {
            TaskId const next = graph.successors[e];
            if (next < 0 || next >= graph.num_tasks())
                reject_graph("task " + std::to_string(task) + " has a successor " + std::to_string(next) +
                             " that does not exist");
            if (--unmet[next] < 0)
                reject_graph("task " + std::to_string(next) + " is the successor of more than its " +
                             std::to_string(graph.num_predecessors[next]) + " predecessors");
        }
    }
    for (std::size_t task = 0; task < tasks; ++task)
        if (unmet[task] < 0)
            reject_graph("task " + std::to_string(task) + " has a negative number of predecessors");
    return std::accumulate(unmet.begin(), unmet.end(), Offset{0});
}

} // namespace espalier
