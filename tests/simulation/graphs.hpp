// Small task graphs, for tests.
#pragma once

#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/status_of.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// Tasks of these costs; `successors` has a list for each. Priorities are the longest paths, homes worker 0.
inline TaskGraph graph_of(std::vector<double> cost, std::vector<std::vector<TaskId>> const& successors) {
    TaskGraph graph;
    graph.cost = std::move(cost);
    graph.num_predecessors.assign(graph.cost.size(), 0);
    graph.home.assign(graph.cost.size(), 0);
    for (auto const& list : successors) {
        for (TaskId t : list) ++graph.num_predecessors[t];
        graph.successors.insert(graph.successors.end(), list.begin(), list.end());
        graph.successor_ptr.push_back(static_cast<Offset>(graph.successors.size()));
    }
    graph.priority = longest_paths(graph);
    return graph;
}

/// Costs from 0 to 9, and edges from smaller to larger numbers.
inline TaskGraph random_graph(TaskId tasks, std::mt19937& engine) {
    std::vector<double> cost(tasks);
    std::vector<std::vector<TaskId>> successors(tasks);
    for (TaskId t = 0; t < tasks; ++t) {
        cost[t] = static_cast<double>(engine() % 10);
        for (TaskId s = t + 1; s < tasks; ++s)
            if (engine() % 11 == 0) successors[t].push_back(s);
    }
    return graph_of(cost, successors);
}

/// Tasks of cost 1 without edges.
inline TaskGraph independent_tasks(TaskId tasks) {
    return graph_of(std::vector<double>(tasks, 1), std::vector<std::vector<TaskId>>(tasks));
}

inline double sum(std::vector<double> const& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

} // namespace espalier
