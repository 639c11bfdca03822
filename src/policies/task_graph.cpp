#include "policies/task_graph.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/error.hpp"

namespace espalier {

namespace {

template <class... Args>
[[noreturn]] void reject_graph(fmt::format_string<Args const&...> what, Args const&... args) {
    throw Error(Status::internal, fmt::format("task graph: {}", fmt::format(what, args...)));
}

} // namespace

void connect_tasks(TaskGraph& graph, TaskId num_tasks, std::span<TaskEdge const> edges) {
    graph.num_predecessors.assign(num_tasks, 0);
    graph.successor_ptr.assign(num_tasks + 1, 0);
    for (auto const& [from, to] : edges) {
        ++graph.num_predecessors[to];
        ++graph.successor_ptr[from + 1];
    }
    std::partial_sum(graph.successor_ptr.begin(), graph.successor_ptr.end(), graph.successor_ptr.begin());
    graph.successors.resize(edges.size());
    std::vector<Offset> at(graph.successor_ptr.begin(), graph.successor_ptr.end() - 1);
    for (auto const& [from, to] : edges) graph.successors[at[from]++] = to;
}

TaskGraph reversed_tasks(TaskGraph const& forward) {
    std::vector<TaskEdge> edges;
    edges.reserve(forward.successors.size());
    for (TaskId task = 0; task < forward.num_tasks(); ++task)
        for (TaskId const next : forward.successors_of(task)) edges.push_back({next, task});
    TaskGraph graph;
    connect_tasks(graph, forward.num_tasks(), edges);
    graph.cost = forward.cost;
    graph.home = forward.home;
    return graph;
}

std::vector<TaskId> topological_order(TaskGraph const& graph) {
    std::vector<TaskId> order;
    order.reserve(graph.num_tasks());
    std::vector<std::int32_t> waiting = graph.num_predecessors;
    for (TaskId task = 0; task < graph.num_tasks(); ++task)
        if (waiting[task] == 0) order.push_back(task);
    for (std::size_t k = 0; k < order.size(); ++k)
        for (TaskId const next : graph.successors_of(order[k]))
            if (--waiting[next] == 0) order.push_back(next);
    return order;
}

std::vector<double> longest_paths(TaskGraph const& graph, ExclusiveTasks exclusive) {
    bool const chained = exclusive == ExclusiveTasks::chained;
    std::vector<double> length(graph.num_tasks()),
        length_from_resource(chained ? graph.num_resources : 0, 0.0);
    for (TaskId task = graph.num_tasks(); task-- > 0;) {
        double longest = 0;
        for (TaskId const next : graph.successors_of(task)) {
            if (next <= task) reject_graph("task {} has the successor {}, a lower number", task, next);
            longest = std::max(longest, length[next]);
        }
        std::int32_t const resource = chained ? graph.resource_of(task) : no_resource;
        if (resource != no_resource) longest = std::max(longest, length_from_resource[resource]);
        length[task] = graph.cost[task] + longest;
        if (resource != no_resource) length_from_resource[resource] = length[task];
    }
    return length;
}

void check_resources(TaskGraph const& graph) {
    if (!graph.resource.empty() && std::ssize(graph.resource) != graph.num_tasks())
        reject_graph("resource has {} entries for {} tasks", graph.resource.size(), graph.num_tasks());
    for (TaskId task = 0; task < std::ssize(graph.resource); ++task)
        if (graph.resource[task] < no_resource || graph.resource[task] >= graph.num_resources)
            reject_graph("task {} has resource {} of {}", task, graph.resource[task], graph.num_resources);
}

} // namespace espalier
