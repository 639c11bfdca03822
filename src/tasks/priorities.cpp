#include "tasks/priorities.hpp"

#include <algorithm>

namespace espalier {

double longest_after(TaskGraph const& graph, std::size_t task) {
    double longest = 0;
    for (Offset s = graph.successor_ptr[task]; s < graph.successor_ptr[task + 1]; ++s)
        longest = std::max(longest, graph.priority[graph.successors[s]]);
    return longest;
}

void set_critical_path_priorities(TaskGraph& graph) {
    auto const n = static_cast<std::size_t>(graph.num_tasks());
    std::vector<std::int32_t> waiting(graph.num_predecessors);
    std::vector<TaskId> order; // topological
    order.reserve(n);
    for (std::size_t t = 0; t < n; ++t)
        if (waiting[t] == 0) order.push_back(static_cast<TaskId>(t));
    for (std::size_t i = 0; i < order.size(); ++i) {
        auto const t = static_cast<std::size_t>(order[i]);
        for (Offset s = graph.successor_ptr[t]; s < graph.successor_ptr[t + 1]; ++s) {
            TaskId const next = graph.successors[s];
            if (--waiting[next] == 0) order.push_back(next);
        }
    }
    graph.priority.assign(n, 0.0);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        auto const t = static_cast<std::size_t>(*it);
        graph.priority[t] = graph.cost[t] + longest_after(graph, t);
    }
}

} // namespace espalier
