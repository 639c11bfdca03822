#include "comm/exchange.hpp"

#include <csignal>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "comm/transport.hpp"
#include "core/error.hpp"
#include "runtime/wake.hpp"

namespace espalier {

namespace {

constexpr int max_failures = 100; // failures of the library in a row before drain() gives up
constexpr auto unlimited = std::numeric_limits<std::size_t>::max();

// Communication threads leave signals to the program's threads: a new thread inherits the mask of its
// creator.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(SignalsBlocked const&) = delete;
    SignalsBlocked& operator=(SignalsBlocked const&) = delete;

  private:
    sigset_t before_;
};

} // namespace

Exchange::Exchange(Communicator const& comm, ExchangeOptions const& options, ExchangeHandlers handlers)
    : comm_(comm), options_(options), handlers_(std::move(handlers)),
      sending_(transport_of(comm), comm.rank(), comm.size(),
               options.threads > 0 ? options.send_window : unlimited, handlers_.on_sent),
      receiving_(transport_of(comm), comm.size(), options.receive_budget, options.pool, failure_,
                 {handlers_.on_block, handlers_.idle, [this](Error const& error) { on_notice(error); },
                  [this](Error const& error) { fail_here(error); }}) {
    if (comm_.size() == 1) {
        options_.threads = 0;
        return;
    }
    auto const choice = choose_comm_threads(comm_, options_.threads);
    if (options_.threads < 0 || options_.threads > 2 || choice.threads != options_.threads)
        throw Error(Status::usage, choice.message.empty()
                                       ? "the number of communication threads must be 0, 1 or 2"
                                       : choice.message);
    if (thread_level(comm_) < ThreadLevel::serialized) {
        if (!transport_of(comm_)->on_main_thread())
            throw Error(
                Status::usage,
                fmt::format("the MPI library runs with {}: only the main thread may communicate; call "
                            "the solver from that thread",
                            to_string(thread_level(comm_))));
        main_thread_ = std::this_thread::get_id();
    }
    record_on(options_.sending_track, options_.receiving_track);
}

Exchange::~Exchange() {
    if (!is_active_) return;
    try {
        finish(Error(Status::internal, "a run was abandoned before its end"));
    } catch (...) {
        // The message-passing library has failed: no rank can be notified.
    }
}

void Exchange::start() {
    is_active_ = true;
    begun_ = trace::ticks();
    if (options_.threads == 0) return;
    SignalsBlocked const blocked;
    try {
        if (options_.threads == 1) {
            threads_.emplace_back([this] {
                progress(
                    alarm_, options_.sending_track, [this] { return step(); },
                    [this] { return sending_.is_under_way() || receiving_.is_under_way(); });
            });
        } else {
            threads_.emplace_back([this] { run_sending_side(); });
            threads_.emplace_back([this] {
                progress(
                    receiving_alarm_, options_.receiving_track, [this] { return receiving_.step(); },
                    [this] { return receiving_.is_under_way(); });
            });
        }
    } catch (...) {
        fail_here(thread_error("a communication thread")); // finish() sends the notices at the latest
    }
}

void Exchange::stop_threads() {
    stop_ = true;
    alarm_.ring();
    receiving_alarm_.ring();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void Exchange::send(int to, std::int64_t id, Block&& block, MessageMark const& mark) {
    if (to < 0 || to >= comm_.size() || to == comm_.rank())
        throw Error(Status::internal, fmt::format("process {} of {} cannot send a block to process {}",
                                                  comm_.rank(), comm_.size(), to));
    Block mine = std::move(block);
    if (!mine.data()) mine = Block::allocate(0);
    if (closing_) throw Error(Status::internal, "a block was sent after the end of the run");
    if (failed()) return;
    sending_.queue(to, id, std::move(mine), mark);
    // The communication thread may share this core, and would wait there until the end of the time slice.
    if (alarm_.ring()) std::this_thread::yield();
}

void Exchange::received_done(std::size_t bytes) {
    if (receiving_.give_back(bytes)) (options_.threads == 2 ? receiving_alarm_ : alarm_).ring();
}

void Exchange::wake() {
    alarm_.ring();
    receiving_alarm_.ring();
}

// A communication thread has found nothing to do.
void Exchange::pause(Alarm& alarm, Backoff& backoff, bool is_under_way) const {
    bool const waits = handlers_.worker_waits && handlers_.worker_waits();
    if (options_.shares_core && !waits && !is_under_way) return alarm.wait_for(options_.rest);
    backoff.pause(alarm, waits ? options_.max_sleep_while_waiting : options_.max_sleep);
}

void Exchange::abort(Error const& error) {
    if (failure_.record_own(error)) notify_others(error);
}

bool Exchange::poll(trace::Track* track) {
    if (options_.threads > 0 || comm_.size() == 1) return false;
    if (main_thread_ != std::thread::id() && main_thread_ != std::this_thread::get_id()) return false;
    if (polling_.test_and_set(std::memory_order_acquire)) return false;
    record_on(track, track);
    bool const moved = guarded_step([this] { return step(); });
    polling_.clear(std::memory_order_release);
    return moved;
}

Outcome Exchange::finish(std::optional<Error> const& mine) {
    stop_threads();
    record_on(options_.sending_track, options_.receiving_track);
    bool const is_one_track = options_.receiving_track == options_.sending_track;
    trace::Scope const waits(options_.sending_track, trace::Kind::idle);
    trace::Scope const waits_too(is_one_track ? nullptr : options_.receiving_track, trace::Kind::idle);
    if (mine) abort(*mine);
    closing_ = true;
    if (comm_.size() > 1) drain();
    auto const outcome = agree(comm_, failure_.own());
    is_active_ = false;
    return outcome;
}

// Each rank sends to each other rank the number of blocks sent there, and waits for the numbers of all
// others.
void Exchange::drain() {
    Alarm never;
    Backoff backoff;
    receiving_.lift_budget();
    for (int failures = 0; !closed_ || sending_.busy() || !receiving_.complete();) {
        try {
            if (step())
                backoff.reset();
            else
                backoff.pause(never, options_.max_sleep_while_waiting);
            failures = 0;
            if (closed_ || sending_.has_waiting()) continue;
            closed_ = true; // all queued blocks are under way: the numbers are final
            sending_.queue_last();
        } catch (...) {
            if (++failures == max_failures) throw;
            fail_here(current_error());
            backoff.pause(never, options_.max_sleep_while_waiting);
        }
    }
}

ExchangeStatistics Exchange::statistics() const {
    return {sending_.messages(),
            receiving_.messages(),
            sending_.bytes(),
            receiving_.bytes(),
            receiving_.peak_held(),
            sending_.peak_waiting(),
            sending_.seconds() + receiving_.seconds()};
}

bool Exchange::step() {
    bool const sent = sending_.step();
    bool const received = receiving_.step();
    return sent || received;
}

// Exceptions must not leave a communication thread, or a poll between two tasks.
template <class Step> bool Exchange::guarded_step(Step&& step) {
    try {
        return step();
    } catch (...) {
        fail_here(current_error());
        return false;
    }
}

// All time without sending or receiving appears as idle in a trace.
template <class Step, class IsUnderWay>
void Exchange::progress(Alarm& alarm, trace::Track* track, Step&& step, IsUnderWay&& is_under_way) {
    run_soon_after_waking();
    Backoff backoff;
    trace::Ticks idle_since = begun_;
    auto const record_idle = [&] { // messages of this time are recorded already, as nested states
        if (track) track->state(trace::Kind::idle, idle_since, trace::ticks());
        idle_since = trace::ticks();
    };
    while (!stop_) {
        if (guarded_step(step)) {
            record_idle();
            backoff.reset();
        } else {
            pause(alarm, backoff, is_under_way());
        }
    }
    record_idle();
}

void Exchange::record_on(trace::Track* sending, trace::Track* receiving) {
    sending_.record_on(sending);
    receiving_.record_on(receiving);
}

void Exchange::run_sending_side() {
    auto const step = [this] {
        if (sending_.step()) return true;
        if (sending_.busy()) return false;
        alarm_.wait(); // until a worker sends
        return true;
    };
    progress(alarm_, options_.sending_track, step, [this] { return sending_.is_under_way(); });
}

void Exchange::fail_here(Error const& error) {
    if (!failure_.record_own(error)) return;
    notify_others(error);
    notify_user(error);
}

void Exchange::on_notice(Error const& error) {
    if (!failure_.record_notice()) return;
    sending_.drop_queued();
    notify_user(error);
}

void Exchange::notify_others(Error const& error) {
    sending_.drop_queued();
    if (comm_.size() == 1 || closed_) return;
    sending_.queue_notices(error);
    alarm_.ring();
}

void Exchange::notify_user(Error const& error) {
    try {
        if (handlers_.on_abort) handlers_.on_abort(error);
    } catch (...) { // the run ends anyway
    }
}

} // namespace espalier
