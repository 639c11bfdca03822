// Where panels lie, and how far from those who used them: the share of the bytes that each task worked on
// which lay on the NUMA node of its worker. In: a factor, its plan, who ran which task, where workers stand.
//
// Of a task count the coefficients that it has to do with, each once: factor(u) the panels of its cblks;
// update(u, j) the rows it reads of each source panel and those it writes in the panel of j. The bytes of a
// panel that spans several nodes are taken to be mixed evenly.
#pragma once

#include <vector>

#include "factor/factor.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

struct Placement {
    /// Bytes of panels on each node of the topology, and after these, if there are any, on nodes without
    /// cores of this process. Empty when the system does not tell.
    std::vector<double> node_bytes;
    double touched_bytes = 0;                  ///< Those of all tasks whose place is known.
    double local_share = -1;                   ///< Of all bytes of all tasks; -1: unknown, or there are none.
    std::vector<double> local_share_of_worker; ///< -1 for a worker that touched nothing.
    double smallest_share = -1;                ///< Of a task ...
    double median_share = -1;                  ///< ... and that which half of the tasks reach.
};

/// On this machine the system is asked for a sample of at most 8192 pages (2 ms). On a machine that is not
/// here, pages lie where they would there: those of a local arena on the node of its owner, of a global one
/// on node 0 (as far as it goes), of interleaved ones on the nodes in turn, arena after arena. `team` are the
/// workers that have factorized, who count in parallel: linear in panels, tasks and bloks, by the size of the
/// team. `worker_of_task` has a worker for each task of the plan.
template <class T> Placement measure_placement(Factor<T> const& factor, FactorPlan const& plan,
                                               std::vector<WorkerId> const& worker_of_task, WorkerTeam& team,
                                               Topology const& topology);

} // namespace espalier
