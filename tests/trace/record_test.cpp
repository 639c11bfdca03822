#include "trace/record.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "espalier/types.hpp"
#include "tools/traces/statistics.hpp"

namespace espalier::trace {
namespace {

TEST(Recorder, KeepsTheStatesOfEveryThread) {
    constexpr int threads = 4, tasks = 20'000; // more than two chunks each
    Recorder recorder({.metadata = {{"matrix", "none"}}});
    std::vector<std::thread> team;
    for (int w = 0; w < threads; ++w)
        team.emplace_back([&recorder, w] {
            Track& track = recorder.add_thread({.worker = w, .node = w % 2});
            for (int i = 0; i < tasks; ++i) {
                track.between_tasks();
                Scope const scope(&track, Kind::update, {.task = w * tasks + i, .cblk = i, .level = w});
            }
        });
    for (auto& thread : team) thread.join();

    Trace const trace(recorder.collect());
    EXPECT_EQ(trace.dropped_events(), 0);
    EXPECT_EQ(trace.about("origin"), "measured");
    auto const found = trace.at(Place::thread);
    ASSERT_EQ(found.size(), std::size_t(threads));
    char const* const names[] = {"T0", "T2", "T1", "T3"}; // by node, then by worker
    for (std::size_t t = 0; t < found.size(); ++t) {
        EXPECT_EQ(trace.containers()[found[t]].name, names[t]);
        auto const states = trace.states_of(found[t]);
        ASSERT_EQ(states.size(), std::size_t(tasks));
        for (int i = 0; i < tasks; ++i) {
            ASSERT_EQ(states[std::size_t(i)].cblk, i);
            ASSERT_EQ(states[std::size_t(i)].task % tasks, i);
        }
    }
    EXPECT_EQ(Trace(recorder.collect()).states().size(), 0u);
}

void let_time_pass() {
    for (Nanoseconds const start = steady_now(); steady_now() - start < 2000;) {
    }
}

TEST(Recorder, RecordsNestedScopesPhasesStealsMessagesAndCounters) {
    Recorder recorder({.process = 1, .processes = 2});
    Track& first = recorder.add_thread({.worker = 0});
    Track& second = recorder.add_thread({.worker = 1});
    Track& progress = recorder.add_thread({});
    EXPECT_EQ(&recorder.add_thread({.worker = 1}), &second);
    EXPECT_EQ(recorder.worker(0), &first);
    EXPECT_EQ(recorder.worker(2), nullptr);
    EXPECT_EQ(recorder.worker(-1), nullptr);
    {
        Scope const phase(&recorder.phases(), Kind::factorization);
        Scope const outer(&first, Kind::factor, {.task = 7, .cblk = 3, .level = 0});
        let_time_pass(); // so that no piece is empty
        {
            Scope const inner(&first, Kind::send);
        }
        let_time_pass();
        second.steal(0, 7, 2);
        progress.sent(0, 99, 4096, ticks());
        progress.received(0, 98, 512);
        recorder.phases().sample(Counter::memory, 1 << 20);
        second.sample(Counter::ready_tasks, 5);
    }
    recorder.add_dependencies({{6, 7}});
    auto parts = recorder.collect();
    ASSERT_EQ(parts.message_ends.size(), 2u);
    EXPECT_EQ(parts.message_ends[0].from_process, 1);
    EXPECT_EQ(parts.message_ends[1].from_process, 0);
    EXPECT_EQ(parts.message_ends[1].bytes, 512);
    Trace const trace(std::move(parts));

    auto const threads = trace.at(Place::thread);
    ASSERT_EQ(threads.size(), 3u);
    EXPECT_EQ(trace.containers()[threads[0]].name, "P1T0");
    EXPECT_EQ(trace.containers()[threads[2]].name, "P1C0");
    ASSERT_EQ(trace.states_of(threads[0]).size(), 3u); // factor, send, the rest of factor
    EXPECT_TRUE(trace.states_of(threads[0])[2].continued);
    EXPECT_EQ(trace.states_of(threads[0])[2].task, 7);
    ASSERT_TRUE(phase(trace, "factorization").has_value());
    EXPECT_FALSE(phase(trace, "solve").has_value());
    ASSERT_EQ(trace.links().size(), 1u);
    EXPECT_EQ(trace.links()[0].from, std::int32_t(threads[0]));
    EXPECT_EQ(trace.links()[0].to, std::int32_t(threads[1]));
    EXPECT_EQ(trace.links()[0].distance, 2);
    ASSERT_EQ(trace.samples().size(), 2u);
    EXPECT_EQ(trace.samples()[0].value, 1 << 20);
    EXPECT_EQ(trace.samples()[1].value, 5);
    EXPECT_EQ(trace.unmatched_messages(), 2);
    EXPECT_EQ(trace.dependencies().size(), 1u);
}

TEST(Recorder, CountsEventsWithoutMemory) {
    Recorder recorder({.max_bytes = 3 << 19}); // 1.5 MiB are five chunks
    Track& track = recorder.add_thread({.worker = 0});
    constexpr std::int64_t events = 100'000;
    for (std::int64_t i = 0; i < events; ++i) {
        track.between_tasks();
        track.state(Kind::update, Ticks(i), Ticks(i) + 1, {.task = i});
    }
    auto const parts = recorder.collect();
    EXPECT_GT(parts.dropped_events, 0);
    EXPECT_GE(parts.states.size(), 3u * 8192);
    EXPECT_EQ(std::int64_t(parts.states.size()) + parts.dropped_events, events);
    EXPECT_EQ(parts.states[10].task, 10);
}

TEST(Recorder, DropsRatherThanAllocatesWhileATaskRuns) {
    Recorder recorder({});
    Track& track = recorder.add_thread({.worker = 0});
    for (int i = 0; i < 3 * 8192; ++i) track.state(Kind::send, 1, 2);
    EXPECT_EQ(recorder.collect().dropped_events, 8192); // two chunks exist in advance
    track.between_tasks();
    track.state(Kind::send, 1, 2);
    EXPECT_EQ(recorder.collect().states.size(), 1u);
}

TEST(Recorder, ConvertsTicksToTheSteadyClock) {
    Recorder recorder({});
    Nanoseconds const zero = steady_now() - 1'000'000;
    recorder.set_zero(zero);
    Track& track = recorder.add_thread({.worker = 0});
    Nanoseconds const before = steady_now() - zero;
    Ticks const start = ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    track.state(Kind::idle, start, ticks());
    Nanoseconds const after = steady_now() - zero;
    auto const states = recorder.collect().states;
    ASSERT_EQ(states.size(), 1u);
    constexpr Nanoseconds tolerance = 20'000;
    EXPECT_GE(states[0].start, before - tolerance);
    EXPECT_LE(states[0].end, after + tolerance);
    EXPECT_GE(states[0].end - states[0].start, 20'000'000 - tolerance);
}

TEST(Recorder, NumbersTheTasksOfConsecutiveGraphs) {
    Recorder recorder({});
    EXPECT_EQ(recorder.reserve_tasks(10), 0);
    EXPECT_EQ(recorder.reserve_tasks(5), 10);
    EXPECT_EQ(recorder.reserve_tasks(1), 15);
    EXPECT_THROW(Recorder({.process = 2, .processes = 2}), Error);
}

TEST(Scope, RecordsNothingWithoutATrack) {
    Track* const none = nullptr;
    EXPECT_NO_THROW(Scope(none, Kind::update, {.task = 1}));
}

} // namespace
} // namespace espalier::trace
