// A run of a task graph on all processes: each runs its own part with its own team, with an exchange beside
// it. A received message is an event that makes tasks ready. The first error on any process ends the run on
// all processes with the same error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "comm/exchange.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

/// The connection of a run to the other processes.
struct Messaging {
    Communicator comm;
    ExchangeOptions exchange;
};

/// Calls `step` on this rank, and throws the same error on all ranks if it fails on one. Collective; without
/// messaging it only calls `step`.
template <class Step> void all_succeed(Messaging const* messaging, Step&& step) {
    if (!messaging) return step();
    all_succeed(messaging->comm, step);
}

class MessageRun {
  public:
    using BlockHandler = std::function<void(int from, std::int64_t id, Block&& block)>;

    /// With one process `messaging` is null, and run() is WorkerTeam::run(). `on_block` is called for each
    /// received block, and may call WorkerTeam::release(). `pool`, which may be null, has memory for these
    /// blocks.
    MessageRun(WorkerTeam& team, Messaging const* messaging, BlockHandler on_block,
               std::shared_ptr<BlockPool> pool = {})
        : team_(team), messaging_(messaging), on_block_(std::move(on_block)), pool_(std::move(pool)) {}

    /// Allocates the memory of the exchange of the next run. Not collective: called in a step of
    /// all_succeed(), so that no rank waits in run() for a rank without memory.
    void prepare() {
        if (!messaging_) return;
        ExchangeHandlers handlers{.on_block = on_block_,
                                  .on_abort = [this](Error const& error) { team_.stop(error); },
                                  .idle = [this] { return team_.idle(); },
                                  .worker_waits = [this] { return team_.waits(); }};
        ExchangeOptions options = messaging_->exchange;
        options.pool = pool_;
        if (options.threads == 0) options.sending_track = options.receiving_track = team_.track(0);
        exchange_.emplace(messaging_->comm, options, std::move(handlers));
    }

    /// After prepare() on all ranks. Collective with several processes: returns on all ranks or throws the
    /// same error on all. options.external_events is the number of events in the graph; on_start and poll are
    /// set here.
    RunStats run(TaskGraph const& graph, Policy& policy, TaskBody const& body, RunOptions options) {
        if (!messaging_) return team_.run(graph, policy, body, options);
        // Blocks may arrive as soon as the exchange starts, and the run must have started by then.
        options.on_start = [this] { exchange_->start(); };
        if (messaging_->exchange.threads == 0)
            options.poll = [this](WorkerId worker) { return exchange_->poll(team_.track(worker)); };
        else
            options.on_sleep = [this] { exchange_->wake(); };
        RunStats stats;
        std::optional<Error> const mine = error_of([&] { stats = team_.run(graph, policy, body, options); });
        trace::Ticks const done = trace::ticks();
        Outcome const outcome = exchange_->finish(mine);
        record_waiting(done);
        statistics_ = exchange_->statistics();
        exchange_.reset();
        outcome.raise();
        return stats;
    }

    /// Called by a task of the run.
    void send(int to, std::int64_t id, Block&& block, MessageMark const& mark) {
        exchange_->send(to, id, std::move(block), mark);
    }

    /// Called by a task of the run after it has freed a received block of `bytes`.
    void received_done(std::size_t bytes) { exchange_->received_done(bytes); }

    /// Statistics of the last run.
    [[nodiscard]] ExchangeStatistics const& statistics() const { return statistics_; }

  private:
    // Records that the workers wait for the others at the end. A worker that moves messages records that
    // itself.
    void record_waiting(trace::Ticks since) {
        trace::Ticks const now = trace::ticks();
        for (WorkerId w = messaging_->exchange.threads == 0 ? 1 : 0; w < team_.size(); ++w)
            if (trace::Track* const track = team_.track(w)) track->state(trace::Kind::idle, since, now);
    }

    WorkerTeam& team_;
    Messaging const* messaging_;
    BlockHandler on_block_;
    std::shared_ptr<BlockPool> pool_;
    std::optional<Exchange> exchange_;
    ExchangeStatistics statistics_;
};

} // namespace espalier
