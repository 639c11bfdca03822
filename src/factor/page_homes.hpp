// Homes of tasks by the pages of their panels. A plan places each panel on the node of its owner. The pages
// may be elsewhere, because the node was full, one thread touched all panels (--alloc global), or pages were
// moved. Policies that push tasks to the node of the data that they write then need other homes.
#pragma once

#include <vector>

#include "factor/factor.hpp"
#include "policies/task_graph.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

/// Returns workers_at_data() for the pages of the factor. The result is empty if each panel is with its
/// owner, or if homes have no effect or pages are not real: another policy than places and nas, one node, or
/// another machine. Reads a sample of at most 8192 pages (2 ms). The panels must have been touched.
template <class T> std::vector<WorkerId> workers_at_pages(Factor<T> const& factor, FactorPlan const& plan,
                                                          WorkerTeam& team, Topology const& topology);

/// Returns the graph of plan.factor or of plan.solve, which is `tasks`. Tasks whose home is the owner of the
/// panel that they work on get the home `worker_of_cblk` instead.
template <class Tasks> TaskGraph with_homes(FactorPlan const& plan, Tasks const& tasks,
                                            std::vector<WorkerId> const& worker_of_cblk) {
    TaskGraph graph = tasks.graph;
    for (TaskId t = 0; t < graph.num_tasks(); ++t) {
        CblkId const k = cblk_of(tasks.tasks[t], plan.partition);
        if (plan.is_own(k) && graph.home[t] == plan.owner_of_cblk[k]) graph.home[t] = worker_of_cblk[k];
    }
    return graph;
}

} // namespace espalier
