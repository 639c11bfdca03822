// The processes of a run. Without MPI, or when the command was not started by a launcher, there is one.
#pragma once

namespace espalier {

/// The processes that were started together. Construct once, in main, before threads are created:
/// initialises MPI when this build has it and a launcher (mpirun, srun) started the process.
class ProcessGroup {
  public:
    ProcessGroup(int* argc, char*** argv);
    ~ProcessGroup();
    ProcessGroup(ProcessGroup const&) = delete;
    ProcessGroup& operator=(ProcessGroup const&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

  private:
    int rank_ = 0;
    int size_ = 1;
    bool initialised_ = false;
};

} // namespace espalier
