// List scheduling on identical workers: whenever a worker is free it takes the ready task of highest
// priority (Graham 1969). The result gives each worker its ordered list for StaticPolicy. Lists that follow
// simulated start times cannot deadlock.
#pragma once

#include <vector>

#include "policies/task_graph.hpp"

namespace espalier {

struct StaticSchedule {
    std::vector<std::vector<TaskId>> lists; ///< For each worker, its tasks in order.
    std::vector<WorkerId> worker_of_task;
    double makespan = 0; ///< In the unit of graph.cost.
};

/// O(tasks log tasks). With `respect_homes` each task goes to the worker that is its home: Error{internal}
/// naming a task that has none.
StaticSchedule list_schedule(TaskGraph const& graph, int workers, bool respect_homes = false);

} // namespace espalier
