// The processes that a launcher started together, as the command sees them. Without MPI, or when the command
// was not started by a launcher, there is one.
#pragma once

#include "comm/thread_level.hpp"
#include "espalier/communicator.hpp"

namespace espalier {

/// Construct once, in main, before threads are created: initialises MPI when this build has it and a launcher
/// (mpirun, srun) started the process, and finalises it in the end. Of the command alone: the library uses
/// MPI as its caller initialised it.
class ProcessGroup {
  public:
    /// MPI may give another thread level than is wanted (thread_level tells).
    ProcessGroup(int* argc, char*** argv, ThreadLevel wanted = ThreadLevel::multiple);
    ~ProcessGroup();
    ProcessGroup(ProcessGroup const&) = delete;
    ProcessGroup& operator=(ProcessGroup const&) = delete;

    [[nodiscard]] int rank() const { return world_.rank(); }
    [[nodiscard]] int size() const { return world_.size(); }
    /// All processes.
    [[nodiscard]] Communicator const& world() const { return world_; }

  private:
    Communicator world_;
    bool initialised_ = false;
};

} // namespace espalier
