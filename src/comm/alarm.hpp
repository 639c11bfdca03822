// A sleep that other threads can end: one thread waits, any thread rings. Ringing takes no lock while the
// waiting thread is awake.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace espalier {

class Alarm {
  public:
    /// Ends the current wait, or the next one. Any thread. Returns true if a wait was under way.
    bool ring();
    /// Waits until ring() or until the time is over.
    void wait_for(std::chrono::nanoseconds time);
    /// Waits until ring().
    void wait();

  private:
    template <class Wait> void sleep(Wait&& wait);

    // ring() writes rung_ and then reads sleeping_; the waiting thread writes sleeping_ and then reads rung_.
    // Sequential consistency makes one of them see the other.
    std::atomic<bool> rung_{false};
    std::atomic<bool> sleeping_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
};

/// Chooses how long to wait between two polls that find nothing: not at all at first, then half the time
/// since the last event, up to a bound. So waiting lasts at most half as long again as necessary, and long
/// waits take no processor time.
class Backoff {
  public:
    /// A poll has found something.
    void reset() { since_ = Clock::now(); }
    void pause(Alarm& alarm, std::chrono::microseconds longest);

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point since_ = Clock::now();
};

} // namespace espalier
