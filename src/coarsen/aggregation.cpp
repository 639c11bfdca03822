#include "coarsen/aggregation.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"

namespace espalier {

namespace {

template <class... Args> [[noreturn]] void
reject(std::string_view origin, fmt::format_string<Args const&...> what, Args const&... args) {
    throw Error(Status::usage, fmt::format("{}: ", origin) + fmt::format(what, args...));
}

/// The number of aggregates, all of which have a member.
TaskId count_aggregates(TaskGraph const& graph, Aggregation const& aggregation, std::string_view origin) {
    TaskId const n = graph.num_tasks();
    if (std::ssize(aggregation) != n) reject(origin, "{} entries for {} tasks", std::ssize(aggregation), n);
    TaskId highest = -1;
    for (TaskId task = 0; task < n; ++task) {
        TaskId const aggregate = aggregation[task];
        if (aggregate < 0 || aggregate >= n)
            reject(origin, "task {} is in aggregate {}, which is outside 0 .. {}", task, aggregate, n - 1);
        highest = std::max(highest, aggregate);
    }
    std::vector<bool> used(highest + 1, false);
    for (TaskId const aggregate : aggregation) used[aggregate] = true;
    auto const gap = std::find(used.begin(), used.end(), false);
    if (gap != used.end()) reject(origin, "aggregate {} has no task", gap - used.begin());
    return highest + 1;
}

bool is_topological(TaskGraph const& graph, Aggregation const& aggregation) {
    for (TaskId task = 0; task < graph.num_tasks(); ++task)
        for (TaskId const next : graph.successors_of(task))
            if (aggregation[next] < aggregation[task]) return false;
    return true;
}

void collect_parts(CoarseGraph& coarse, TaskId num_aggregates) {
    coarse.part_ptr.assign(num_aggregates + 1, 0);
    for (TaskId const aggregate : coarse.aggregate_of) ++coarse.part_ptr[aggregate + 1];
    std::partial_sum(coarse.part_ptr.begin(), coarse.part_ptr.end(), coarse.part_ptr.begin());
    std::vector<Offset> at(coarse.part_ptr.begin(), coarse.part_ptr.end() - 1);
    coarse.parts.resize(coarse.aggregate_of.size());
    for (TaskId task = 0; task < std::ssize(coarse.aggregate_of); ++task)
        coarse.parts[at[coarse.aggregate_of[task]]++] = task;
}

/// Connects the aggregates. Each aggregate remembers the last one that has an edge to it, so that edges are
/// not repeated.
void connect_aggregates(CoarseGraph& coarse, TaskGraph const& fine, TaskId num_aggregates) {
    TaskGraph& graph = coarse.graph;
    graph.num_predecessors.assign(num_aggregates, 0);
    graph.successor_ptr.assign(1, 0);
    graph.successor_ptr.reserve(num_aggregates + 1);
    graph.successors.clear();
    std::vector<TaskId> last_predecessor(num_aggregates, no_task);
    for (TaskId aggregate = 0; aggregate < num_aggregates; ++aggregate) {
        last_predecessor[aggregate] = aggregate;
        for (TaskId const part : coarse.parts_of(aggregate))
            for (TaskId const next : fine.successors_of(part)) {
                TaskId const target = coarse.aggregate_of[next];
                if (last_predecessor[target] == aggregate) continue;
                last_predecessor[target] = aggregate;
                graph.successors.push_back(target);
                ++graph.num_predecessors[target];
            }
        graph.successor_ptr.push_back(std::ssize(graph.successors));
    }
}

/// A topological numbering of the aggregates of a connected coarse graph: new number of each.
std::vector<TaskId> topological_numbers(TaskGraph const& graph, std::string_view origin) {
    auto const order = topological_order(graph);
    std::vector<TaskId> number(graph.num_tasks(), no_task);
    for (TaskId k = 0; k < std::ssize(order); ++k) number[order[k]] = k;
    if (auto const stuck = std::ranges::find(number, no_task); stuck != number.end())
        reject(origin, "aggregates depend on each other in a cycle, which stops aggregate {}",
               stuck - number.begin());
    return number;
}

void add_costs_and_events(CoarseGraph& coarse, TaskGraph const& fine) {
    coarse.graph.cost.assign(coarse.graph.num_tasks(), 0.0);
    for (TaskId task = 0; task < fine.num_tasks(); ++task)
        coarse.graph.cost[coarse.aggregate_of[task]] += cost_of(fine, task);
    auto const& predecessors = fine.num_predecessors;
    if (std::accumulate(predecessors.begin(), predecessors.end(), Offset(0)) == std::ssize(fine.successors))
        return;
    auto const from_tasks = count_task_predecessors(fine);
    for (TaskId task = 0; task < fine.num_tasks(); ++task)
        coarse.graph.num_predecessors[coarse.aggregate_of[task]] += predecessors[task] - from_tasks[task];
}

} // namespace

std::vector<std::int32_t> count_task_predecessors(TaskGraph const& graph) {
    std::vector<std::int32_t> count(graph.num_tasks(), 0);
    for (TaskId const task : graph.successors) ++count[task];
    return count;
}

DepthOrder depth_order(TaskGraph const& graph) {
    DepthOrder result;
    auto waiting = count_task_predecessors(graph);
    auto& order = result.order;
    order.reserve(waiting.size());
    for (TaskId task = 0; task < graph.num_tasks(); ++task)
        if (waiting[task] == 0) order.push_back(task);
    // A task enters the queue after its last predecessor, which has the greatest depth among its
    // predecessors. So the queue is sorted by depth.
    result.depth_ptr.push_back(0);
    for (TaskId first = 0, last; first < std::ssize(order); first = last) {
        last = static_cast<TaskId>(order.size());
        for (TaskId k = first; k < last; ++k)
            for (TaskId const next : graph.successors_of(order[k]))
                if (--waiting[next] == 0) order.push_back(next);
        result.depth_ptr.push_back(last);
    }
    return result;
}

void check_fine_graph(TaskGraph const& graph) {
    if (!graph.resource.empty())
        throw Error(Status::unsupported, "a task graph with exclusive resources cannot be coarsened");
    for (TaskId task = 0; task < graph.num_tasks(); ++task)
        for (TaskId const next : graph.successors_of(task))
            if (next <= task || next >= graph.num_tasks())
                reject("task graph", "task {} has the successor {}; successors need higher numbers, below {}",
                       task, next, graph.num_tasks());
}

CoarseGraph quotient_graph(TaskGraph const& graph, Aggregation aggregation, std::string_view origin) {
    TaskId const num_aggregates = count_aggregates(graph, aggregation, origin);
    CoarseGraph coarse;
    coarse.aggregate_of = std::move(aggregation);
    bool const topological = is_topological(graph, coarse.aggregate_of);
    collect_parts(coarse, num_aggregates);
    connect_aggregates(coarse, graph, num_aggregates);
    if (!topological) {
        auto const number = topological_numbers(coarse.graph, origin);
        for (TaskId& aggregate : coarse.aggregate_of) aggregate = number[aggregate];
        collect_parts(coarse, num_aggregates);
        connect_aggregates(coarse, graph, num_aggregates);
    }
    add_costs_and_events(coarse, graph);
    return coarse;
}

CoarseGraph with_parts(CoarseGraph coarse, Aggregation aggregate_of) {
    coarse.aggregate_of = std::move(aggregate_of);
    collect_parts(coarse, coarse.graph.num_tasks());
    return coarse;
}

} // namespace espalier
