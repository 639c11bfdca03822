#include "comm/alarm.hpp"

#include <algorithm>

#include "policies/spin.hpp"

namespace espalier {

namespace {
constexpr std::chrono::microseconds spin_time{20};
}

bool Alarm::ring() {
    rung_.store(true);
    if (!sleeping_.load()) return false;
    std::lock_guard const lock(mutex_); // not between the waiting thread's read of rung_ and its sleep
    changed_.notify_one();
    return true;
}

template <class Wait> void Alarm::sleep(Wait&& wait) {
    std::unique_lock lock(mutex_);
    sleeping_.store(true);
    wait(lock);
    sleeping_.store(false);
    rung_.store(false);
}

void Alarm::wait_for(std::chrono::nanoseconds time) {
    sleep([&](auto& lock) { changed_.wait_for(lock, time, [this] { return rung_.load(); }); });
}

void Alarm::wait() {
    sleep([&](auto& lock) { changed_.wait(lock, [this] { return rung_.load(); }); });
}

void Backoff::pause(Alarm& alarm, std::chrono::microseconds longest) {
    auto const idle = Clock::now() - since_;
    // A thread that yields a busy core waits for a whole time slice; one that wakes from sleep runs soon.
    if (idle < spin_time) return relax_processor();
    alarm.wait_for(std::min<std::chrono::nanoseconds>(longest, idle / 2));
}

} // namespace espalier
