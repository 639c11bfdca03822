// The core of each worker, and the binding of a thread to it.
#pragma once

#include <vector>

#include "policies/task_graph.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// The place of a worker. On a machine other than this one core and node are virtual: only policies use them.
struct WorkerPlace {
    int core = 0; ///< Index into Topology::cores().
    int node = 0; ///< Index into Topology::nodes().
    int node_os_index = 0;
    int pu = -1; ///< Hardware thread to bind to (OS index); -1 if the worker is not bound.
};

/// Worker w is on core w modulo the number of cores: compact, node after node. Workers are bound only if
/// `bind` is set and each has a core of its own: not on another machine, not if there are more workers than
/// cores or other processes use the same cores, and not if there is only one worker (one thread gains
/// nothing, and two one-threaded runs would compete for one core).
std::vector<WorkerPlace> place_workers(Topology const& topology, int workers, bool bind);

/// The affinity mask of the calling thread, a bit for each hardware thread; empty if it cannot be read.
std::vector<unsigned long> current_affinity();

/// Binds the calling thread to a hardware thread. Returns false, without effect, if the system refuses or
/// there is not enough memory for the mask.
bool bind_this_thread(int pu) noexcept;

/// Binds the calling thread for the scope and then restores its affinity. No effect with pu = -1.
class AffinityScope {
  public:
    explicit AffinityScope(int pu);
    ~AffinityScope();
    AffinityScope(AffinityScope const&) = delete;
    AffinityScope& operator=(AffinityScope const&) = delete;

    [[nodiscard]] bool bound() const { return !before_.empty(); } ///< Whether the system allowed it.

  private:
    std::vector<unsigned long> before_; ///< The mask to restore; empty if nothing was changed.
};

/// For each panel, or other piece of data, a worker on the node that has it: its owner, or if that is on
/// another node, the workers there in turn. A node of -1 is unknown, and then the owner remains; so it does
/// if no worker is on that node.
std::vector<WorkerId> workers_at_data(std::vector<WorkerId> const& owners, std::vector<int> const& nodes,
                                      std::vector<WorkerPlace> const& places);

} // namespace espalier
