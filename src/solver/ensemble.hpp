// The processes that work on one system. Rank 0 leads: it alone has the matrix and the right-hand sides, and
// decides what is done next, as a single process would. What all take part in is an order, which the leader
// broadcasts before it does its own share; the others do theirs in serve() until the leader's call has ended:
//
//     leader          call ─ order: factorize ─ order: sweep ─ order: sweep ─ ... ─ end ─► result or error
//     others          call ─ serve ─────────────────────────────────────────────────────► the same
//
// An error of an order is thrown by all alike; what follows from it the leader decides. One process is alone,
// and gives no orders.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "comm/message_run.hpp"
#include "core/interrupt.hpp"
#include "espalier/communicator.hpp"
#include "espalier/report.hpp"
#include "factor/assembly.hpp"
#include "factor/deal_plan.hpp"
#include "factor/factorize.hpp"
#include "factor/pivots.hpp"
#include "solve/sweep.hpp"
#include "solver/factor_results.hpp"
#include "solver/run_recorder.hpp"

namespace espalier {

/// What holds during one call of the interface: as process 0 has it.
struct CallSettings {
    std::string call; ///< Its name; empty: process 0's solver is gone.
    int threads = 1;
    bool bind_threads = true;
    int comm_threads = 1;
    bool record_trace = false;
};

template <class T> class Ensemble {
  public:
    using Low = Narrow<T>;

    /// Collective. A process that `follows` calls next_call() in place of what process 0 calls. `recording`
    /// lives longer.
    Ensemble(Communicator comm, bool follows, RunRecorder& recording);
    /// The leader's tells those who follow.
    ~Ensemble();
    Ensemble(Ensemble const&) = delete;
    Ensemble& operator=(Ensemble const&) = delete;

    [[nodiscard]] bool is_alone() const { return comm_.size() == 1; }
    [[nodiscard]] bool leads() const { return comm_.rank() == 0; }
    [[nodiscard]] Communicator const& comm() const { return comm_; }
    /// In use; 0 with one process.
    [[nodiscard]] int comm_threads() const { return is_alone() ? 0 : messaging_.exchange.threads; }

    /// What this process works with from now on; `topology` lives longer than calls do. Returns what the user
    /// should know when there are fewer communication threads than `comm_threads`.
    std::string work_with(std::function<WorkerTeam&()> workers, Topology const& topology,
                          std::shared_ptr<Interrupt> interrupt, int comm_threads);
    /// Every rank, first in each call of the interface: the leader's settings, on all. Error{usage} on all
    /// ranks when they are in different calls.
    void agree_on_call(CallSettings& settings);
    /// Who follows, in place of that.
    CallSettings next_call();
    /// The leader, last: how its call ended, and its result as bytes. Returns when all know.
    void end(std::optional<Error> const& error, Report& report, std::vector<std::byte> result = {});
    /// The others, in between: returns the result when the leader's call has ended well, with its report;
    /// throws its error.
    std::vector<std::byte> serve(Report& report);

    // Orders, given by the leader. With one process they are its own work.

    /// Structure and plans. The leader's own stay where they are, and live longer.
    void share_plan(BlockStructure const& structure, FactorPlan const& plan, ProcessPlans plans);
    /// Where the entries of the matrix go. Keeps the leader's part.
    void share_assembly(AssemblyMap whole);
    [[nodiscard]] bool has_assembly() const { return assembly_.has_value(); }
    /// Factorizes; F is T or Low, and the factors of the other scalar are dropped. The results of all
    /// processes.
    template <class F> std::vector<FactorResult> factorize(std::span<F const> values, FactorForm form,
                                                           Allocation allocation, FactorizeOptions options);
    /// A pass of right-hand sides through the factors, in place, as solve(), condense() or expand().
    template <class F> void sweep(MatrixView<F> x, SweepPart part, MatrixOp op);
    /// Of all processes.
    template <class F> Pivots<F> pivots();
    /// What was recorded is forgotten by all, and from now on all record.
    void restart_recording();
    /// What all have recorded since.
    trace::TraceParts collect_trace();
    /// Forgets assembly and factors of this process. No order.
    void drop_factors();

    /// The leader's own panels.
    template <class F> [[nodiscard]] Factor<F>& factor();
    [[nodiscard]] WorkerTeam& workers() { return workers_(); }

  private:
    static constexpr int leader = 0;
    struct Order;

    void share(CallSettings& settings);
    template <class F> std::unique_ptr<Factor<F>>& slot() {
        if constexpr (std::is_same_v<F, T>)
            return full_;
        else
            return narrow_;
    }
    void lend_tracks();
    [[nodiscard]] std::optional<trace::Kind> phase_of_call() const;
    [[nodiscard]] Messaging const* messaging() const { return is_alone() ? nullptr : &messaging_; }
    std::vector<double> deliver(std::vector<std::byte>& ending, std::uint64_t bytes);
    Order next_order();
    void give(Order order);
    void obey(Order const& order);
    void take_plan();
    void take_part(ProcessPlans plans);
    void take_assembly(AssemblyMap const& whole);
    template <class F> void allocate(Order const& order);
    template <class F> std::vector<FactorResult> run_factorize(Order const& order, std::span<F const> values,
                                                               FactorizeOptions options);
    template <class F> std::vector<FactorResult> collect(FactorizeStats const& stats);
    template <class F> void run_sweep(Order const& order, MatrixView<F> x);
    template <class F> Pivots<F> run_pivots();

    Communicator comm_;
    RunRecorder& recording_;
    std::string call_; ///< The present one.
    bool some_follow_ = false;
    Messaging messaging_;
    std::function<WorkerTeam&()> workers_;
    Topology const* topology_ = nullptr;
    std::shared_ptr<Interrupt> interrupt_;

    BlockStructure const* structure_ = nullptr; ///< Of this process.
    FactorPlan const* plan_ = nullptr;
    ProcessPart part_; ///< With several processes: where these two are.
    // With several processes, on the leader:
    BlockStructure const* whole_ = nullptr;
    std::vector<std::int32_t> process_of_cblk_;
    std::vector<std::vector<Index>> unknowns_; ///< Rows of the vectors of each process.

    std::optional<AssemblyMap> assembly_;
    std::vector<std::vector<Offset>> sources_; ///< The leader: where the values of each process are.
    Offset own_values_ = 0;                    ///< The number of values of this process.
    std::unique_ptr<Factor<T>> full_;
    std::unique_ptr<Factor<Low>> narrow_;
};

} // namespace espalier
