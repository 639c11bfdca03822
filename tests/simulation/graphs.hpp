// Small task graphs, for tests.
#pragma once

#include <utility>
#include <vector>

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

} // namespace espalier
