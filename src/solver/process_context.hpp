// The means by which the phases of a solver work on this process: its machine and its workers, its messages
// to the other processes, the recorder of its trace, and the interrupt of the present call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "comm/collective_call.hpp"
#include "comm/message_run.hpp"
#include "core/background.hpp"
#include "core/interrupt.hpp"
#include "espalier/communicator.hpp"
#include "espalier/options.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"
#include "solver/run_recorder.hpp"

namespace espalier {

class ProcessContext {
  public:
    /// Collective. `topology` as Options::topology; processes that may use the same cores divide them.
    /// Error{usage} on all processes if one has no such machine.
    ProcessContext(std::string const& topology, Communicator comm);
    ProcessContext(ProcessContext const&) = delete;
    ProcessContext& operator=(ProcessContext const&) = delete;

    [[nodiscard]] Communicator const& comm() const { return messaging_.comm; }
    [[nodiscard]] bool is_alone() const { return comm().size() == 1; }
    [[nodiscard]] bool is_root() const { return comm().rank() == 0; }

    [[nodiscard]] Topology const& topology() const { return topology_; }
    /// Another machine, for one process alone.
    void set_topology(std::string const& topology);
    /// Workers of each process where the options do not say how many.
    [[nodiscard]] int default_threads() const { return default_threads_; }
    [[nodiscard]] int threads() const { return threads_; }
    /// From the next use of workers() on.
    void set_threads(int threads, bool bind);
    /// The workers, started at the first use.
    WorkerTeam& workers();

    /// A call begins: who can cancel it, how many communication threads are wanted, whether it is recorded.
    /// Returns a note for the user if there are fewer communication threads than wanted; else an empty text.
    std::string begin_call(Options const& options);
    /// In use; 0 with one process.
    [[nodiscard]] int comm_threads() const { return is_alone() ? 0 : messaging_.exchange.threads; }
    /// How the next run talks to the other processes; null with one process.
    [[nodiscard]] Messaging* messaging();
    [[nodiscard]] Interrupt* interrupt() const { return interrupt_.get(); }
    [[nodiscard]] std::shared_ptr<Interrupt> const& shared_interrupt() const { return interrupt_; }
    [[nodiscard]] Background& background() { return background_; }

    [[nodiscard]] RunRecorder& recording() { return recording_; }
    /// Where phases of this process are recorded; null if nothing is recorded.
    [[nodiscard]] trace::Track* phases() const { return recording_.phases(); }
    /// Records the memory in use.
    void sample_memory() const;

    /// all_succeed() and on_root() of these processes.
    template <class Step> auto on_all(Step&& step) const { return all_succeed(comm(), step); }
    template <class Step> auto on_root(Step&& step) const { return espalier::on_root(comm(), step); }

  private:
    Messaging messaging_;
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
