#include "comm/message_run.hpp"

#include <utility>

namespace espalier {

MessageRun::MessageRun(WorkerTeam& team, Messaging const* messaging, BlockHandler on_block)
    : team_(team), messaging_(messaging), on_block_(std::move(on_block)) {}

void MessageRun::open() {
    ExchangeHandlers handlers{.on_block = on_block_,
                              .on_abort = [this](Error const& error) { team_.stop(error); },
                              .idle = [this] { return team_.idle(); },
                              .worker_waits = [this] { return team_.waits(); }};
    ExchangeOptions options = messaging_->exchange;
    if (options.threads == 0) options.sending_track = options.receiving_track = team_.track(0);
    exchange_.emplace(messaging_->comm, options, std::move(handlers));
}

RunStats MessageRun::run(TaskGraph const& graph, Policy& policy, TaskBody const& body, RunOptions options) {
    if (!messaging_) return team_.run(graph, policy, body, options);
    // Blocks may arrive as soon as the exchange exists, and the run must have started by then.
    options.on_start = [this] { open(); };
    if (messaging_->exchange.threads == 0)
        options.poll = [this](WorkerId worker) { return exchange_->poll(team_.track(worker)); };
    else
        options.on_sleep = [this] { exchange_->wake(); };
    RunStats stats;
    std::optional<Error> const mine = error_of([&] { stats = team_.run(graph, policy, body, options); });
    if (!exchange_) open(); // finish() is collective
    trace::Ticks const done = trace::ticks();
    Outcome const outcome = exchange_->finish(mine);
    record_waiting(done);
    statistics_ = exchange_->statistics();
    exchange_.reset();
    outcome.raise();
    return stats;
}

// Records that the workers wait for the others at the end. A worker that moves messages records that itself.
void MessageRun::record_waiting(trace::Ticks since) {
    trace::Ticks const now = trace::ticks();
    for (WorkerId w = messaging_->exchange.threads == 0 ? 1 : 0; w < team_.size(); ++w)
        if (trace::Track* const track = team_.track(w)) track->state(trace::Kind::idle, since, now);
}

} // namespace espalier
