// A run of a task graph on all processes: each runs its own part with its own team, with an exchange beside
// it. A received message is an event that makes tasks ready. The first error on any process ends the run on
// all processes with the same error.
#pragma once

#include <functional>
#include <optional>

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
    /// received block, and may call WorkerTeam::release().
    MessageRun(WorkerTeam& team, Messaging const* messaging, BlockHandler on_block);

    /// Collective with several processes: returns on all ranks or throws the same error on all.
    /// options.external_events is the number of events in the graph; on_start and poll are set here.
    RunStats run(TaskGraph const& graph, Policy& policy, TaskBody const& body, RunOptions options);

    /// Called by a task of the run.
    void send(int to, std::int64_t id, Block&& block, MessageMark const& mark) {
        exchange_->send(to, id, std::move(block), mark);
    }
    /// Called by a task of the run after it has freed a received block of `bytes`.
    void received_done(std::size_t bytes) { exchange_->received_done(bytes); }

    /// Statistics of the last run.
    [[nodiscard]] ExchangeStatistics const& statistics() const { return statistics_; }

  private:
    void open();
    void record_waiting(trace::Ticks since);

    WorkerTeam& team_;
    Messaging const* messaging_;
    BlockHandler on_block_;
    std::optional<Exchange> exchange_;
    ExchangeStatistics statistics_;
};

} // namespace espalier
