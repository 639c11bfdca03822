// A sleep that others can end: one thread waits, any thread rings. To ring for somebody awake takes no lock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace espalier {

class Alarm {
  public:
    /// Ends the wait under way, or the next one. Any thread. Was one under way?
    bool ring();
    /// Until it rings or the time is over.
    void wait_for(std::chrono::nanoseconds time);
    /// Until it rings.
    void wait();

  private:
    template <class Wait> void sleep(Wait&& wait);

    // ring() writes rung_ and then reads sleeping_, the sleeper the other way round, in one order for all.
    std::atomic<bool> rung_{false};
    std::atomic<bool> sleeping_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
};

/// How long to wait when nothing moves: not at all at first, then half as long as nothing has moved, within a
/// bound. So a pause costs at most half as much again, and a long one no processor time.
class Backoff {
  public:
    /// Something has moved.
    void reset() { since_ = Clock::now(); }
    void pause(Alarm& alarm, std::chrono::microseconds longest);

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point since_ = Clock::now();
};

} // namespace espalier
