// Blocks of bytes on their way between the processes during one run, a factorization or a triangular sweep.
// Any worker hands in blocks at any time; progress threads, or workers between two tasks, move them along;
// who receives sets a bound on the memory of blocks that it has not consumed, beyond which blocks stay with
// their sender. When one rank fails all are told, what is under way is received and dropped, and all ranks
// end with the same error and with no message left behind.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "comm/alarm.hpp"
#include "comm/block.hpp"
#include "comm/collective.hpp"
#include "comm/receiving_side.hpp"
#include "comm/run_failure.hpp"
#include "comm/sending_side.hpp"
#include "comm/thread_level.hpp"
#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

struct ExchangeOptions {
    /// 0: whoever calls poll() moves messages; 1: one progress thread makes all calls of the message-passing
    /// library (ThreadLevel::serialized at least); 2: one sends and one receives (ThreadLevel::multiple).
    int threads = 1;
    /// Received blocks that nobody has given back by received_done() take at most so many bytes, but one
    /// block may come when there is none, however large. What the message-passing library buffers itself
    /// (small messages, below its eager limit) is not counted.
    std::size_t receive_budget = std::size_t{256} << 20;
    /// While more bytes are under way to a process, in two blocks at least, further ones for it wait, so that
    /// one with a higher priority may overtake them. Without progress threads nothing waits: it might be long
    /// until the next poll.
    std::size_t send_window = std::size_t{2} << 20;
    /// A progress thread with nothing to do sleeps so long at most, what it adds to a message's latency:
    /// while all workers are busy, perhaps on its core, and while one waits, perhaps for a message.
    std::chrono::microseconds max_sleep{1000};
    std::chrono::microseconds max_sleep_waited_for{100};
    /// Where a trace shows what is sent and received: the tracks of the two progress threads, twice that of
    /// the only one, or with 0 threads that of the thread that calls finish(). Null: nowhere.
    trace::Track* sending_track = nullptr;
    trace::Track* receiving_track = nullptr;
};

/// What the user of an exchange does. Called by whoever moves messages at that time, until finish() returns,
/// and by a progress thread perhaps before the constructor has returned. What they throw makes this rank
/// fail.
struct ExchangeHandlers {
    /// A block has come. Not after a failure. Its size() is to be given back by received_done() later.
    std::function<void(int from, std::int64_t id, Block&& block)> on_block;
    /// Another rank has failed (its error), or this one did while it moved messages: stop working. At most
    /// once, and not after this rank's own abort().
    std::function<void(Error const& error)> on_abort;
    /// May a block be received beyond the budget, because nothing else can happen here? May be empty: never.
    std::function<bool()> idle;
    /// Does a worker wait for tasks? Cheap. May be empty: never known.
    std::function<bool()> waited_for;
    /// A block has left this process; `started` is when its send began. May be empty.
    std::function<void(int to, std::int64_t id, std::size_t bytes,
                       std::chrono::steady_clock::time_point started)>
        on_sent;
};

/// Of this rank, over one run. Messages are blocks; notices of failure and of the end are not counted.
struct ExchangeStatistics {
    std::int64_t messages_sent = 0;
    std::int64_t messages_received = 0; ///< Dropped ones included.
    std::int64_t bytes_sent = 0;        ///< Of payload.
    std::int64_t bytes_received = 0;
    std::int64_t peak_received = 0; ///< Most bytes of received blocks that were not given back.
    std::int64_t peak_waiting = 0;  ///< Most bytes of blocks that were handed in and had not left.
    double seconds_in_mpi = 0;      ///< Of progress threads or of polling workers; without the handlers.
};

class Exchange {
  public:
    /// Starts the progress threads, which block signals. Not collective, but every rank of `comm` has one
    /// exchange at a time, and no rank uses `comm` otherwise until finish(). With 0 threads and a library
    /// that lets only the main thread call it, the constructor, poll() and finish() are of that thread;
    /// Error{usage} otherwise, and for more threads than choose_comm_threads allows. No threads with one
    /// process.
    Exchange(Communicator const& comm, ExchangeOptions const& options, ExchangeHandlers handlers);
    /// An exchange that was not finished fails on all ranks: finish() with an error.
    ~Exchange();
    Exchange(Exchange const&) = delete;
    Exchange& operator=(Exchange const&) = delete;

    /// Hands in a block for another rank; returns at once. Its memory is freed when it has left. After a
    /// failure it is freed at once. Any thread. Error{internal} for a rank that is not there or this one.
    void send(int to, std::int64_t id, Block&& block, MessageMark const& mark = {});

    /// `bytes` (size() of a received block) were consumed and freed. Any thread.
    void received_done(std::size_t bytes);

    /// A worker begins to wait, as handlers.waited_for() tells by now: progress threads look at once. Any
    /// thread.
    void look();

    /// This rank fails: tells all others, once. Nothing when another rank's failure is known already. Any
    /// thread.
    void abort(Error const& error);

    /// Has this rank failed, or another one as far as is known here? Any thread.
    [[nodiscard]] bool failed() const { return failure_.failed(); }

    /// With 0 threads: moves messages along, unless another thread is at it; true when something moved. Any
    /// thread, between tasks; where only the main thread may, others return false. Nothing with progress
    /// threads. `track` is where the caller records what moves; null: nowhere.
    bool poll(trace::Track* track = nullptr);

    /// The end of the run, collective, also after a failure; when no worker uses the exchange any more. Sends
    /// and receives until nothing is under way on any rank; blocks that come now do not wait for the budget.
    /// Success, or the error with which the lowest rank failed by itself: `mine` or that of abort(), unless
    /// this rank had been told of another's failure before. Error{internal} when the message-passing library
    /// itself fails.
    Outcome finish(std::optional<Error> const& mine = std::nullopt);

    /// After finish().
    [[nodiscard]] ExchangeStatistics statistics() const;

  private:
    void start_threads();
    void stop_threads();
    template <class Step> bool guarded_step(Step&& step);
    template <class Step> void progress(Alarm& alarm, trace::Track* track, Step&& step);
    void record_on(trace::Track* sending, trace::Track* receiving);
    void run_both_sides();
    void run_sending_side();
    void run_receiving_side();
    bool step();
    [[nodiscard]] std::chrono::microseconds longest_sleep() const;
    void fail_here(Error const& error);
    void on_notice(Error const& error);
    void tell_others(Error const& error);
    void tell_user(Error const& error);
    void drain();

    Communicator comm_;
    ExchangeOptions options_;
    ExchangeHandlers handlers_;
    std::thread::id main_thread_; // when only that may call the library
    RunFailure failure_;
    SendingSide sending_;
    ReceivingSide receiving_;
    std::atomic_flag polling_; // with 0 threads: somebody moves messages
    std::atomic<bool> stop_{false};
    std::atomic<bool> closing_{false}; // finish() was called
    bool closed_ = false;              // a notice would not be received any more
    bool finished_ = false;
    trace::Ticks begun_ = trace::ticks();
    Alarm alarm_;           // of the one progress thread, or of the one that sends
    Alarm receiving_alarm_; // of the one that receives
    std::vector<std::thread> threads_;
};

} // namespace espalier
