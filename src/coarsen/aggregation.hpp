// Aggregations of a task graph: each task belongs to one aggregate, and the aggregates form a coarse task
// graph. All graphs here are numbered topologically: a successor has a higher number than its predecessor.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "policies/task_graph.hpp"

namespace espalier {

/// The aggregate of each task. Aggregates are numbered from 0 without gaps.
using Aggregation = std::vector<TaskId>;

/// A task graph whose tasks are aggregates of the tasks of a finer graph.
struct CoarseGraph {
    /// Costs are the sums over the parts (the numbers of parts if the fine graph has no costs). The
    /// successors of a task are distinct. External predecessors of parts are kept. No priorities or homes.
    TaskGraph graph;
    std::vector<Offset> part_ptr{0};  ///< graph.num_tasks() + 1 entries.
    std::vector<TaskId> parts;        ///< The fine tasks of each coarse task, ascending: they may run so.
    std::vector<TaskId> aggregate_of; ///< The coarse task of each fine task.

    [[nodiscard]] std::span<TaskId const> parts_of(TaskId aggregate) const {
        return {parts.data() + part_ptr[aggregate], parts.data() + part_ptr[aggregate + 1]};
    }
};

/// The cost of a task: 1 if the graph has no costs.
inline double cost_of(TaskGraph const& graph, TaskId task) {
    return graph.cost.empty() ? 1 : graph.cost[task];
}

/// For each task the number of predecessors that are tasks.
[[nodiscard]] std::vector<std::int32_t> count_task_predecessors(TaskGraph const& graph);

/// Tasks by depth: the number of tasks on the longest path to a task, itself excluded. Linear.
struct DepthOrder {
    std::vector<TaskId> order;     ///< By depth; tasks of one depth in the order in which they become ready
                                   ///< if all tasks run one by one in this order.
    std::vector<TaskId> depth_ptr; ///< Depth d has order[depth_ptr[d]] .. order[depth_ptr[d + 1] - 1].
    [[nodiscard]] TaskId num_depths() const { return static_cast<TaskId>(depth_ptr.size()) - 1; }
};
[[nodiscard]] DepthOrder depth_order(TaskGraph const& graph);

/// Error{usage} unless every successor has a higher number than its task. Exclusive resources are
/// Error{unsupported}: an aggregate would have to hold several.
void check_fine_graph(TaskGraph const& graph);

/// The coarse graph of an aggregation. If the numbers of the aggregates are not topological, they are
/// renumbered. Error{usage} that names `origin` if the aggregation does not have one aggregate for each
/// task, if numbers are negative or skipped, or if aggregates depend on each other in a cycle. Linear.
[[nodiscard]] CoarseGraph quotient_graph(TaskGraph const& graph, Aggregation aggregation,
                                         std::string_view origin = "the aggregation");

/// Replaces the parts of `coarse` by those of a finer graph, whose task t belongs to aggregate_of[t].
[[nodiscard]] CoarseGraph with_parts(CoarseGraph coarse, Aggregation aggregate_of);

} // namespace espalier
