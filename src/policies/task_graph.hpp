// A task graph as plain data: costs, priorities, homes, and the order in which tasks may run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

using TaskId = std::int32_t;
using WorkerId = std::int32_t;
inline constexpr TaskId no_task = -1;
inline constexpr WorkerId any_worker = -1;
inline constexpr std::int32_t no_resource = -1;

/// Arrays with one entry for each task; `cost`, `priority`, `home` and `resource` may be empty.
struct TaskGraph {
    std::vector<std::int32_t> num_predecessors; ///< Tasks, and external events such as messages.
    std::vector<Offset> successor_ptr{0};       ///< num_tasks + 1 entries.
    std::vector<TaskId> successors;
    std::vector<double> cost;     ///< Seconds, or another unit used throughout.
    std::vector<double> priority; ///< The largest goes first: usually the longest path to an exit.
    std::vector<WorkerId> home;   ///< The worker whose memory the task works on, or any_worker.
    /// Tasks with the same resource, a number below num_resources, never run at the same time, but in any
    /// order: they add to the same sum. no_resource for a task that excludes no other.
    std::vector<std::int32_t> resource;
    std::int32_t num_resources = 0;

    [[nodiscard]] TaskId num_tasks() const { return static_cast<TaskId>(num_predecessors.size()); }
    [[nodiscard]] std::span<TaskId const> successors_of(TaskId task) const {
        return {successors.data() + successor_ptr[task], successors.data() + successor_ptr[task + 1]};
    }
    [[nodiscard]] WorkerId home_of(TaskId task) const { return home.empty() ? any_worker : home[task]; }
    [[nodiscard]] double priority_of(TaskId task) const { return priority.empty() ? 0 : priority[task]; }
    [[nodiscard]] std::int32_t resource_of(TaskId task) const {
        return resource.empty() ? no_resource : resource[task];
    }
};

/// An entry in a heap of ready tasks: the highest priority is on top, then the lowest number. The order is
/// total, which makes schedules reproducible.
struct ReadyTask {
    double priority;
    TaskId task;
    bool operator<(ReadyTask const& other) const {
        return priority != other.priority ? priority < other.priority : task > other.task;
    }
};

/// `to` runs after `from`.
struct TaskEdge {
    TaskId from = no_task;
    TaskId to = no_task;
};

/// Sets the successors and counts the predecessors of tasks 0 .. num_tasks - 1. The successors of a task keep
/// the order of the edges. Linear.
void connect_tasks(TaskGraph& graph, TaskId num_tasks, std::span<TaskEdge const> edges);

/// The tasks with their costs and homes, and edges in the opposite direction.
[[nodiscard]] TaskGraph reversed_tasks(TaskGraph const& forward);

/// The tasks, each after its predecessors. Tasks that wait for a cycle or an event are left out.
[[nodiscard]] std::vector<TaskId> topological_order(TaskGraph const& graph);

/// How longest_paths() treats tasks of the same resource.
enum class ExclusiveTasks : std::uint8_t {
    independent, ///< They are treated as if they could run at the same time.
    chained      ///< As a chain in the order of their numbers: they have to take turns.
};

/// For each task the cost of the longest path from it to an exit, itself included. Successors must have
/// higher numbers than their predecessors: Error{internal} otherwise. Linear.
[[nodiscard]] std::vector<double> longest_paths(TaskGraph const& graph,
                                                ExclusiveTasks exclusive = ExclusiveTasks::independent);

/// Error{internal} for resources of only some of the tasks, or out of range.
void check_resources(TaskGraph const& graph);

} // namespace espalier
