// The operators of Taggre, which aggregate the tasks of a graph: Rossignon, Hénon, Aumage, Thibault 2013, "A
// NUMA-aware fine grain parallelization framework for multi-core architecture". Their aggregations are
// acyclic and numbered topologically. All take a graph that check_fine_graph() accepts, and almost linear
// time.
#pragma once

#include "coarsen/aggregation.hpp"
#include "core/interrupt.hpp"

namespace espalier {

/// S: a task joins its only predecessor if it is the only successor of that task. Chains become one task.
[[nodiscard]] Aggregation aggregate_chains(TaskGraph const& graph);

/// F(N): each depth of the graph is divided into at most N aggregates of similar cost, in the order in which
/// the tasks become ready breadth first. An aggregate exceeds the N-th part of the cost of its depth at most
/// by the cost of one task. Error{usage} if parts < 1.
[[nodiscard]] Aggregation aggregate_fronts(TaskGraph const& graph, Index parts);

/// D(M): a master and up to M of its descendants, breadth first. The masters are the tasks that are in no
/// aggregate yet, in ascending order. From one level of descendants to the next, those tasks join whose
/// predecessors are all in this aggregate or in earlier ones; those with most predecessors in this aggregate
/// come first. Error{usage} if descendants < 1; Error{cancelled} soon after the interrupt asks for it.
[[nodiscard]] Aggregation aggregate_descendants(TaskGraph const& graph, Index descendants,
                                                Interrupt* interrupt = nullptr);

/// C(k): runs of at most k tasks with consecutive numbers, each a successor of the one before. In the
/// natural order of a structured grid these are lines of cells. Error{usage} if length < 1.
[[nodiscard]] Aggregation aggregate_continuations(TaskGraph const& graph, Index length);

/// B(k): runs of k tasks with consecutive numbers, whether they depend on each other or not. Error{usage} if
/// length < 1.
[[nodiscard]] Aggregation aggregate_blocks(TaskGraph const& graph, Index length);

/// T(k): trees, which are runs of at most k tasks with consecutive numbers that depend on no task outside. A
/// task joins the run of the lowest task that it depends on, and all runs in between, if this gives a tree.
/// Other tasks form runs of at most 8 with consecutive numbers. In the order of a nested dissection, trees
/// are subdomains, and the others are in separators. Error{usage} if largest < 1.
[[nodiscard]] Aggregation aggregate_trees(TaskGraph const& graph, Index largest);

/// The first tasks of the aggregates of T(k). `lowest` has the lowest predecessor of each task, or the task
/// itself if it has none. Linear.
[[nodiscard]] std::vector<TaskId> first_of_trees(std::span<TaskId const> lowest, Index largest);

} // namespace espalier
