#include "comm/alarm.hpp"

#include <algorithm>

#include "policies/spin.hpp"

namespace espalier {

namespace {
constexpr std::chrono::microseconds brisk{20};
}

bool Alarm::ring() {
    rung_.store(true);
    if (!sleeping_.load()) return false;
    std::lock_guard const lock(mutex_); // not between the sleeper's look at rung_ and its sleep
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
    auto const still = Clock::now() - since_;
    // To yield would give a busy core away for a whole time slice; out of a sleep one comes back soon.
    if (still < brisk) return relax_processor();
    alarm.wait_for(std::min<std::chrono::nanoseconds>(longest, still / 2));
}

} // namespace espalier
