#include "coarsen/node_distribution.hpp"

#include <algorithm>
#include <numeric>

#include "coarsen/operators.hpp"

namespace espalier {

std::vector<std::int32_t> distribute_over_nodes(TaskGraph const& graph, int nodes) {
    Aggregation const part_of = aggregate_fronts(graph, nodes);
    auto const depths = depth_order(graph);
    std::vector<std::int32_t> node_of(graph.num_tasks());
    std::vector<double> cost_of_node(nodes, 0.0);
    std::vector<std::int32_t> chosen(nodes); // the node of each part of a depth
    for (TaskId d = 0; d < depths.num_depths(); ++d) {
        // The parts of a depth have consecutive numbers, ascending in its order.
        TaskId const first = part_of[depths.order[depths.depth_ptr[d]]];
        TaskId const last = part_of[depths.order[depths.depth_ptr[d + 1] - 1]];
        std::iota(chosen.begin(), chosen.end(), 0);
        if (last - first + 1 < nodes)
            std::ranges::stable_sort(chosen, {}, [&](std::int32_t node) { return cost_of_node[node]; });
        for (TaskId k = depths.depth_ptr[d]; k < depths.depth_ptr[d + 1]; ++k) {
            TaskId const task = depths.order[k];
            node_of[task] = chosen[part_of[task] - first];
            cost_of_node[node_of[task]] += cost_of(graph, task);
        }
    }
    return node_of;
}

} // namespace espalier
