// Tests of sleeps that other threads end.
#include "comm/alarm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace espalier {
namespace {

TEST(Alarm, IsKeptForTheNextSleep) {
    Alarm alarm;
    EXPECT_FALSE(alarm.ring()); // no thread sleeps yet
    alarm.wait();               // returns because of the earlier ring
}

TEST(Alarm, EndsASleepThatBeginsOrHasBegun) {
    Alarm alarm;
    for (int i = 0; i < 100; ++i) {
        std::atomic<bool> awake{false};
        std::thread sleeper([&] {
            alarm.wait();
            awake = true;
        });
        alarm.ring(); // the thread sleeps or is about to
        while (!awake) std::this_thread::yield();
        sleeper.join();
        EXPECT_FALSE(alarm.ring());
        alarm.wait();
    }
}

TEST(Alarm, RingReturnsTrueDuringASleep) {
    using namespace std::chrono_literals;
    Alarm alarm;
    std::atomic<bool> over{false};
    std::thread sleeper([&] {
        while (!over) alarm.wait();
    });
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    bool was_asleep = false;
    while (!was_asleep && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
        was_asleep = alarm.ring();
    }
    EXPECT_TRUE(was_asleep);
    over = true;
    alarm.ring();
    sleeper.join();
}

TEST(Backoff, SleepsAQuarterOfTheIdleTimeWithinABound) {
    using namespace std::chrono_literals;
    using Clock = std::chrono::steady_clock;
    Alarm alarm;
    Backoff backoff;
    auto const begin = Clock::now();
    while (Clock::now() - begin < 200ms) backoff.pause(alarm, 1h); // does not take an hour
    auto shortest = Clock::duration::max();
    for (int i = 0; i < 5; ++i) {
        auto const before = Clock::now();
        backoff.pause(alarm, 1ms);
        shortest = std::min(shortest, Clock::now() - before);
    }
    EXPECT_GE(shortest, 1ms);
    EXPECT_LT(shortest, 100ms); // a quarter of the 200 ms is 50 ms; the bound allows twice that
}

} // namespace
} // namespace espalier
