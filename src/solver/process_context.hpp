// The resources of a solver on this process: the machine, the workers, the exchange of messages with other
// processes, the recorder of the trace, and the interrupt of the current call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/collective_call.hpp"
#include "comm/message_run.hpp"
#include "comm/run_recorder.hpp"
#include "core/background.hpp"
#include "core/interrupt.hpp"
#include "distributed/row_workers.hpp"
#include "espalier/communicator.hpp"
#include "espalier/options.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

class ProcessContext {
  public:
    /// Collective. `topology` is that of Options::topology. Processes that may use the same cores divide
    /// them. Error{usage} on all processes if the topology of one is invalid.
    ProcessContext(std::string const& topology, Communicator comm);
    ProcessContext(ProcessContext const&) = delete;
    ProcessContext& operator=(ProcessContext const&) = delete;

    [[nodiscard]] Communicator const& comm() const { return messaging_.comm; }
    [[nodiscard]] bool is_alone() const { return comm().size() == 1; }
    [[nodiscard]] bool is_root() const { return comm().rank() == 0; }

    [[nodiscard]] Topology const& topology() const { return topology_; }
    /// Changes the machine of a single process.
    void set_topology(std::string const& topology);
    /// Sums the numbers of the processes of each computer, and returns the largest sum. Missing numbers are
    /// 0.
    [[nodiscard]] std::uint64_t largest_sum_of_a_computer(std::span<std::uint64_t const> of_process) const;
    /// The largest number of processes on a computer.
    [[nodiscard]] int processes_of_a_computer() const;
    /// Collective: Error{out_of_memory} on all processes if those of a computer together need more bytes than
    /// it has available. Each passes the bytes that it will allocate.
    void require_available(std::uint64_t wanted) const;
    /// The number of workers of each process if the options do not set it.
    [[nodiscard]] int default_threads() const { return default_threads_; }
    [[nodiscard]] int threads() const { return threads_; }
    /// Sets the workers that the next use of workers() starts.
    void set_threads(int threads, bool bind);
    /// The workers, which start at the first use.
    WorkerTeam& workers();
    /// Returns the workers of workers() for loops over rows. The first loop that needs them starts them.
    [[nodiscard]] RowWorkers row_workers() {
        return {threads(), [this]() -> WorkerTeam& { return workers(); }};
    }

    /// Begins a call with the given options for cancellation, communication threads and recording. Returns a
    /// note for the user if there are fewer communication threads than requested, and an empty text
    /// otherwise.
    std::string begin_call(Options const& options);
    /// The number of communication threads in use; 0 with one process.
    [[nodiscard]] int comm_threads() const { return is_alone() ? 0 : messaging_.exchange.threads; }
    /// The exchange of messages of the next run; null with one process.
    [[nodiscard]] Messaging* messaging();
    [[nodiscard]] Interrupt* interrupt() const { return interrupt_.get(); }
    [[nodiscard]] std::shared_ptr<Interrupt> const& shared_interrupt() const { return interrupt_; }
    [[nodiscard]] Background& background() { return background_; }

    [[nodiscard]] RunRecorder& recording() { return recording_; }
    /// The track for the phases of this process; null if nothing is recorded.
    [[nodiscard]] trace::Track* phases() const { return recording_.phases(); }
    /// Collective: records the memory in use, if a trace is recorded.
    void sample_memory() const;

    /// Runs all_succeed() and on_root() on these processes.
    template <class Step> auto on_all(Step&& step) const { return all_succeed(comm(), step); }
    template <class Step> auto on_root(Step&& step) const { return espalier::on_root(comm(), step); }

  private:
    Messaging messaging_;
    std::vector<std::int64_t> computers_; ///< A number for each process that identifies its computer.
    Topology topology_;
    int default_threads_;
    int threads_ = 0;
    bool bind_threads_ = true;
    RunRecorder recording_;
    std::unique_ptr<WorkerTeam> team_;
    Background background_;
    std::shared_ptr<Interrupt> interrupt_;
};

} // namespace espalier
