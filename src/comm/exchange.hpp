// The messages of one run, a factorization or a triangular sweep, between the processes. Any worker sends
// blocks at any time; communication threads, or workers between two tasks, move the messages. The end of the
// run is the work of the thread that calls finish(): the communication threads have ended by then. The
// receiver bounds the memory of received blocks that are not consumed; beyond the bound, blocks stay with
// their sender. When one rank fails it notifies all others, messages under way are received and dropped, and
// all ranks end with the same error and with no message left.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
    /// 0: callers of poll() move messages; 1: one communication thread sends and receives
    /// (ThreadLevel::serialized at least); 2: one sends and one receives (ThreadLevel::multiple). In all
    /// cases finish() joins these threads, and then its caller makes the remaining calls of the
    /// message-passing library.
    int threads = 1;
    /// Maximum bytes of received blocks before received_done(); a single block may be larger. Buffers of the
    /// message-passing library (for messages below its eager limit) are not counted.
    std::size_t receive_budget = std::size_t{256} << 20;
    /// While more bytes than this are under way to a process, in two blocks at least, further blocks for it
    /// wait, so that one with a higher priority can overtake them. Without communication threads no block
    /// waits, because the next poll may be late.
    std::size_t send_window = std::size_t{2} << 20;
    /// Maximum sleep of an idle communication thread, which adds to the latency of messages. The first one
    /// applies while all workers are busy, the second one while a worker waits, perhaps for a message.
    std::chrono::microseconds max_sleep{1000};
    std::chrono::microseconds max_sleep_while_waiting{100};
    /// Whether a communication thread may take the core of a worker. Each time it wakes, it takes some 15 us
    /// of the worker, whose data leave the caches. While all workers are busy and no message is under way, it
    /// then sleeps so long without polling in between.
    bool shares_core = false;
    std::chrono::microseconds rest{4000};
    /// Trace tracks for sent and received messages. Two communication threads have a track each; both members
    /// are the same track for a single communication thread, and with 0 threads for the thread that calls
    /// finish(). Null if nothing is recorded.
    trace::Track* sending_track = nullptr;
    trace::Track* receiving_track = nullptr;
    std::shared_ptr<BlockPool> pool = {}; ///< Memory for received blocks; may be null.
};

/// Callbacks of the user of an exchange. The thread that moves messages calls them until finish() returns; a
/// communication thread may call them before start() has returned. Their exceptions make this rank fail.
struct ExchangeHandlers {
    /// A block was received; not called after a failure. received_done() with its size() follows.
    std::function<void(int from, std::int64_t id, Block&& block)> on_block = {};
    /// Another rank has failed with this error, or this rank has failed while it moved messages. The user
    /// stops working. Called at most once, and not after abort() on this rank.
    std::function<void(Error const& error)> on_abort = {};
    /// Whether a block may exceed the budget, because this process cannot do anything else. Empty: never.
    std::function<bool()> idle = {};
    /// Whether a worker waits for tasks. Must be cheap. May be empty.
    std::function<bool()> worker_waits = {};
    /// The send of a block is complete; `started` is when it began. May be empty.
    std::function<void(int to, std::int64_t id, std::size_t bytes,
                       std::chrono::steady_clock::time_point started)>
        on_sent = {};
};

/// Statistics of this rank over one run. Messages are blocks; notices of failure and of the end do not count.
struct ExchangeStatistics {
    std::int64_t messages_sent = 0;
    std::int64_t messages_received = 0; ///< Includes dropped blocks.
    std::int64_t bytes_sent = 0;        ///< Bytes of payload.
    std::int64_t bytes_received = 0;
    std::int64_t peak_received = 0; ///< Maximum bytes of received blocks before received_done().
    std::int64_t peak_waiting = 0;  ///< Maximum bytes of blocks whose send was not complete.
    double seconds_in_mpi = 0;      ///< In communication threads or polling workers, without the callbacks.
};

class Exchange {
  public:
    /// Allocates memory, and needs start(). Not collective, but each rank of `comm` has one exchange at a
    /// time. With 0 threads and ThreadLevel::funneled, only the main thread may call the constructor, poll()
    /// and finish(). Error{usage} on another thread, and for more threads than choose_comm_threads allows.
    Exchange(Communicator const& comm, ExchangeOptions const& options, ExchangeHandlers handlers);
    /// Makes the run fail on all ranks if start() was called and finish() was not.
    ~Exchange();

    /// Begins the run: other calls are allowed now, and no other use of `comm` until finish(). Starts the
    /// communication threads, which block signals; none with one process. If the system refuses a thread, the
    /// run fails on all ranks.
    void start();

    /// Queues a block for another rank and returns at once. Frees its memory when the send is complete, or at
    /// once after a failure. Any thread may call it. Error{internal} if `to` is this rank or out of range.
    void send(int to, std::int64_t id, Block&& block, MessageMark const& mark = {});

    /// Reports that a received block of `bytes` was consumed and freed. Any thread may call it.
    void received_done(std::size_t bytes);

    /// Wakes the communication threads because a worker waits; handlers.worker_waits() is true. Any thread
    /// may call it.
    void wake();

    /// Makes this rank fail and notifies all others. Does nothing after an earlier failure of this rank or a
    /// notice of another one. Any thread may call it.
    void abort(Error const& error);

    /// Whether this rank has failed, or knows of the failure of another one. Any thread may call it.
    [[nodiscard]] bool failed() const { return failure_.failed(); }

    /// With 0 threads: sends and receives what is possible, unless another thread does so. Returns true if a
    /// message moved. Any thread may call it between tasks; if only the main thread may call the library, it
    /// returns false on others. Does nothing with communication threads. `track` is the caller's track of a
    /// trace, or null.
    bool poll(trace::Track* track = nullptr);

    /// Ends the run, after the last use by a worker and also after a failure. Collective. Joins
    /// the communication threads, then sends and receives on the calling thread until no message is under way
    /// on any rank; the budget no longer applies. Returns success, or the error of the lowest rank that
    /// failed by itself: with `mine` or by abort(), before it knew of another's failure. Error{internal} when
    /// the message-passing library fails.
    Outcome finish(std::optional<Error> const& mine = std::nullopt);

    /// Valid after finish().
    [[nodiscard]] ExchangeStatistics statistics() const;

  private:
    void stop_threads();
    template <class Step> bool guarded_step(Step&& step);
    template <class Step, class IsUnderWay>
    void progress(Alarm& alarm, trace::Track* track, Step&& step, IsUnderWay&& is_under_way);
    void record_on(trace::Track* sending, trace::Track* receiving);
    void run_sending_side();
    bool step();
    void pause(Alarm& alarm, Backoff& backoff, bool is_under_way) const;
    void fail_here(Error const& error);
    void on_notice(Error const& error);
    void notify_others(Error const& error);
    void notify_user(Error const& error);
    void drain();

    Communicator comm_;
    ExchangeOptions options_;
    ExchangeHandlers handlers_;
    std::thread::id main_thread_; // set if only the main thread may call the library
    RunFailure failure_;
    SendingSide sending_;
    ReceivingSide receiving_;
    std::atomic_flag polling_; // set while a thread moves messages (with 0 communication threads)
    std::atomic<bool> stop_{false};
    std::atomic<bool> closing_{false}; // finish() was called
    bool closed_ = false;              // set when no further notices would be received
    bool is_active_ = false;           // between start() and the end of finish()
    trace::Ticks begun_ = trace::ticks();
    Alarm alarm_;           // wakes the only communication thread, or the sending one
    Alarm receiving_alarm_; // wakes the receiving communication thread
    std::vector<std::thread> threads_;
};

} // namespace espalier
