// The NUMA nodes of panels, and the share of the bytes of each task that are on the node of its worker. The
// input is a factor, its plan, the worker of each task, and the cores of the workers.
//
// A task counts each coefficient that it reads or writes once: factor(u) the panels of its cblks; update(u,
// j) the rows that it reads in each source panel and those that it writes in the panel of j. If a panel lies
// on several nodes, its bytes are assumed to be mixed evenly.
#pragma once

#include <vector>

#include "factor/factor.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

struct Placement {
    /// Bytes of panels on each node of the topology, then those on nodes without cores of this process, if
    /// any. Empty when the system gives no information.
    std::vector<double> node_bytes;
    double touched_bytes = 0;                  ///< Bytes of all tasks whose node is known.
    double local_share = -1;                   ///< Share of all bytes of all tasks; -1: unknown or none.
    std::vector<double> local_share_of_worker; ///< -1 for a worker without bytes.
    double smallest_share = -1;                ///< Minimum over the tasks.
    double median_share = -1;                  ///< Median over the tasks.
};

/// On this machine the nodes are read from the system for a sample of at most 8192 pages (2 ms). For another
/// topology they are predicted: pages of a local arena on the node of its owner, of a global one on node 0,
/// of interleaved ones on the nodes in turn, arena after arena. `team` has run the factorization and counts
/// in parallel: linear in panels, tasks and bloks, divided by the size of the team. `worker_of_task` has the
/// worker of each task of the plan.
template <class T> Placement measure_placement(Factor<T> const& factor, FactorPlan const& plan,
                                               std::vector<WorkerId> const& worker_of_task, WorkerTeam& team,
                                               Topology const& topology);

} // namespace espalier
