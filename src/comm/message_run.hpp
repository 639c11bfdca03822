// A task graph that runs on all processes at once, each with its own part of it and a team of its own: the
// team's run and an exchange side by side. A message that comes counts an event down and makes tasks ready.
// The first error anywhere ends the run everywhere, with the same error.
#pragma once

#include <functional>
#include <optional>

#include "comm/exchange.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

/// How a run talks to the other processes.
struct Messaging {
    Communicator comm;
    ExchangeOptions exchange;
};

/// Calls `step` on this rank, and throws the same error on all ranks when it has failed on one. Collective;
/// without messaging just a call.
template <class Step> void all_succeed(Messaging const* messaging, Step&& step) {
    if (!messaging) return step();
    all_succeed(messaging->comm, step);
}

class MessageRun {
  public:
    using BlockHandler = std::function<void(int from, std::int64_t id, Block&& block)>;

    /// `messaging` is null where there is one process: then this is WorkerTeam::run(). `on_block` is called
    /// for each block that comes, and may call WorkerTeam::release().
    MessageRun(WorkerTeam& team, Messaging const* messaging, BlockHandler on_block);

    /// Collective where there are several processes: returns on all ranks or throws the same error on all.
    /// `options` with external_events as the graph has; its on_start and poll are set here.
    RunStats run(TaskGraph const& graph, Policy& policy, TaskBody const& body, RunOptions options);

    /// From a task of the run.
    void send(int to, std::int64_t id, Block&& block, MessageMark const& mark) {
        exchange_->send(to, id, std::move(block), mark);
    }
    /// From a task of the run: a block that came is freed, which had so many bytes.
    void received_done(std::size_t bytes) { exchange_->received_done(bytes); }

    /// Of the last run.
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
