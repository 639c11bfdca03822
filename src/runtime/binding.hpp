// Which core each worker stands on, and the binding of a thread to it.
#pragma once

#include <vector>

#include "policies/task_graph.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// Where a worker stands. On a machine that is not here core and node are virtual: policies see them, the
/// system does not.
struct WorkerPlace {
    int core = 0; ///< Index into Topology::cores().
    int node = 0; ///< Index into Topology::nodes().
    int node_os_index = 0;
    int pu = -1; ///< Hardware thread to bind to (OS index); -1 when the worker is not bound.
};

/// Worker w stands on core w modulo the number of cores: compact, node after node. Workers are bound only
/// if `bind` is set and each can have a core of its own: not on a virtual machine, not when there are more
/// workers than cores or when other processes use the same cores, and not when there is only one worker
/// (two one-threaded runs side by side would fight for the same core, and one thread gains nothing).
std::vector<WorkerPlace> place_workers(Topology const& topology, int workers, bool bind);

/// Bind the calling thread to a hardware thread; false, and nothing changed, when the system refuses or has
/// no memory for the question.
bool bind_this_thread(int pu) noexcept;

/// Binds the calling thread for as long as the scope lasts, then gives it back the affinity it had. With
/// pu = -1 nothing happens.
class AffinityScope {
  public:
    explicit AffinityScope(int pu);
    ~AffinityScope();
    AffinityScope(AffinityScope const&) = delete;
    AffinityScope& operator=(AffinityScope const&) = delete;

    [[nodiscard]] bool bound() const { return !before_.empty(); } ///< The system agreed.

  private:
    std::vector<unsigned long> before_; ///< The mask to restore; empty when nothing was changed.
};

} // namespace espalier
