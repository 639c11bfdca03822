// The NUMA node of each task, for the policy nas (Rossignon, Hénon, Aumage, Thibault 2013): the operator
// F(nodes) divides each depth of a task graph into parts of similar cost, one for each node.
#pragma once

#include <cstdint>
#include <vector>

#include "policies/task_graph.hpp"

namespace espalier {

/// The node 0 .. nodes - 1 of each task. The parts of a depth go to the nodes in order. If there are fewer
/// parts than nodes, they go to those nodes that have the least cost so far. `graph` as check_fine_graph()
/// accepts. Error{usage} if nodes < 1. Almost linear.
[[nodiscard]] std::vector<std::int32_t> distribute_over_nodes(TaskGraph const& graph, int nodes);

} // namespace espalier
