// A sleep that others end.
#include "comm/alarm.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace espalier {
namespace {

TEST(Alarm, IsKeptForTheNextSleep) {
    Alarm alarm;
    EXPECT_FALSE(alarm.ring()); // nobody sleeps
    alarm.wait();               // it rang already: no test ends here otherwise
}

TEST(Alarm, EndsASleepThatBeginsOrGoesOn) {
    Alarm alarm;
    for (int i = 0; i < 100; ++i) {
        std::atomic<bool> awake{false};
        std::thread sleeper([&] {
            alarm.wait();
            awake = true;
        });
        alarm.ring(); // it sleeps, or is about to
        while (!awake) std::this_thread::yield();
        sleeper.join();
        EXPECT_FALSE(alarm.ring());
        alarm.wait();
    }
}

TEST(Alarm, TellsOfASleepThatGoesOn) {
    Alarm alarm;
    std::atomic<bool> over{false};
    std::thread sleeper([&] {
        while (!over) alarm.wait();
    });
    while (!alarm.ring()) std::this_thread::yield(); // until it sleeps
    over = true;
    alarm.ring();
    sleeper.join();
}

TEST(Backoff, SleepsHalfAsLongAsNothingHasMoved) {
    using namespace std::chrono_literals;
    Alarm alarm;
    Backoff backoff;
    auto const begin = std::chrono::steady_clock::now();
    int pauses = 0;
    while (std::chrono::steady_clock::now() - begin < 20ms) {
        backoff.pause(alarm, 1h);
        ++pauses;
    }
    // A spin of 20 us, then 1.5 times as long each time: more pauses than two, and the last not for an hour.
    EXPECT_GT(pauses, 2);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1h);
    // What rings ends a sleep however long nothing has moved.
    alarm.ring();
    backoff.pause(alarm, 1h);
}

} // namespace
} // namespace espalier
