// A sleep that other threads can end: one thread waits, any thread rings. Ringing takes no lock while the
// waiting thread is awake.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "policies/spin.hpp"
#include "runtime/wake.hpp"

namespace espalier {

class Alarm {
  public:
    /// Ends the current wait, or the next one. Returns true if a wait was under way. Any thread may call it.
    bool ring() {
        rung_.store(true);
        if (!sleeping_.load()) return false;
        // the waiting thread must not be between its read of rung_ and its sleep
        std::lock_guard const lock(mutex_);
        changed_.notify_one();
        return true;
    }

    /// Waits until ring() or until the time is over.
    void wait_for(std::chrono::nanoseconds time) {
        sleep([&](auto& lock) { changed_.wait_for(lock, time, [this] { return rung_.load(); }); });
    }

    /// Waits until ring().
    void wait() {
        sleep([&](auto& lock) { changed_.wait(lock, [this] { return rung_.load(); }); });
    }

  private:
    template <class Wait> void sleep(Wait&& wait) {
        std::unique_lock lock(mutex_);
        sleeping_.store(true);
        wait(lock);
        sleeping_.store(false);
        rung_.store(false);
    }

    // ring() writes rung_ and then reads sleeping_; the waiting thread writes sleeping_ and then reads rung_.
    // Sequential consistency makes one of them see the other.
    std::atomic<bool> rung_{false};
    std::atomic<bool> sleeping_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
};

/// Chooses how long to wait between two polls that find nothing: not at all at first, then a quarter of the
/// time since the last event, up to a bound. So waiting lasts at most a quarter longer than necessary, and
/// long waits take no processor time. Each object belongs to one thread.
class Backoff {
  public:
    /// A poll has found something.
    void reset() { since_ = Clock::now(); }
    void pause(Alarm& alarm, std::chrono::microseconds longest) {
        auto const idle = Clock::now() - since_;
        // A thread that yields a busy core waits for a whole time slice; one that wakes from sleep runs soon.
        if (idle < spin_time) return relax_processor();
        if (!precise_) precise_.emplace();
        alarm.wait_for(std::min<std::chrono::nanoseconds>(longest, idle / 4));
    }

  private:
    static constexpr std::chrono::microseconds spin_time{20};
    using Clock = std::chrono::steady_clock;
    Clock::time_point since_ = Clock::now();
    std::optional<PreciseSleeps> precise_; // created at the first sleep
};

} // namespace espalier
