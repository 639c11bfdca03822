// The processes that a launcher has started, for the command. There is one process without MPI or a launcher.
#pragma once

#include "comm/thread_level.hpp"
#include "espalier/communicator.hpp"

namespace espalier {

/// Constructed once, in main, before threads are created. Initializes MPI if this build has it and a launcher
/// (mpirun, srun) has started the process; the destructor finalizes it. Only the command uses this: the
/// library uses MPI as its caller has initialized it.
class ProcessGroup {
  public:
    /// MPI may provide another thread level (see thread_level).
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
    [[maybe_unused]] bool initialized_ = false; // used in builds with MPI
};

} // namespace espalier
