#include "trace/statistics.hpp"

#include <gtest/gtest.h>

#include "espalier/types.hpp"
#include "trace/sample_trace.hpp"

namespace espalier::trace {
namespace {

TEST(Statistics, AddUpByHand) {
    Trace const trace(sample_parts());
    auto const s = statistics(trace, whole(trace));
    ASSERT_EQ(s.threads.size(), 2u);
    EXPECT_EQ(s.threads[0].busy, 2000 + 2750);
    EXPECT_EQ(s.threads[0].idle, 1500);
    EXPECT_EQ(s.threads[0].unrecorded, 0);
    EXPECT_EQ(s.threads[0].tasks, 2);
    EXPECT_EQ(s.threads[1].busy, 4000 + 1000);
    EXPECT_EQ(s.threads[1].unrecorded, 500 + 750);
    EXPECT_EQ(s.kinds[1].count, 2);
    EXPECT_EQ(s.kinds[1].total, 6000);
    EXPECT_EQ(s.kinds[1].mean(), 3000.0);
    EXPECT_EQ(s.kinds[2].total, 3750);
    EXPECT_EQ(s.kinds[3].count, 0); // A phase is no task.
    EXPECT_EQ(s.messages, 1);
    EXPECT_EQ(s.message_bytes, 800);
    EXPECT_EQ(s.steals, 1);
    EXPECT_EQ(s.peaks[0], 4096);
    EXPECT_EQ(s.total().busy, 9750);
}

TEST(Statistics, CutAtTheWindow) {
    Trace const trace(sample_parts());
    auto const s = statistics(trace, {2000, 5000});
    EXPECT_EQ(s.threads[0].busy, 1000 + 500);
    EXPECT_EQ(s.threads[0].idle, 1500);
    EXPECT_EQ(s.threads[0].tasks, 1);
    EXPECT_EQ(s.threads[1].busy, 3000);
    EXPECT_EQ(s.kinds[1].count, 0); // Both started before.
    auto const solve = phase(trace, "solve");
    ASSERT_TRUE(solve.has_value());
    EXPECT_EQ(solve->begin, 1000);
    EXPECT_EQ(solve->end, 7250);
}

TEST(Statistics, CountAnInterruptedStateOnce) {
    auto parts = sample_parts();
    State inner;
    inner.start = 2000, inner.end = 2500, inner.container = 3, inner.kind = 0;
    parts.states.push_back(inner);
    Trace const trace(parts);
    auto const s = statistics(trace, whole(trace));
    EXPECT_EQ(s.kinds[1].count, 2);
    EXPECT_EQ(s.kinds[1].total, 5500);
    EXPECT_EQ(s.threads[0].idle, 2000);
}

TEST(CriticalPath, FollowsTheLongestChainOfDependencies) {
    Trace const trace(sample_parts());
    auto const path = critical_path(trace);
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(path->tasks, (std::vector<std::int64_t>{1, 2})); // 4000 + 2750 > 4000 + 1000 and 2000 + 2750.
    EXPECT_EQ(path->length, 6750);
    EXPECT_EQ(path->kinds[1], 4000);
    EXPECT_EQ(path->kinds[2], 2750);
    EXPECT_EQ(path->window.end - path->window.begin, 6250);
    EXPECT_EQ(path->unknown_tasks, 0);
}

TEST(CriticalPath, IsNotInventedWithoutDependencies) {
    auto parts = sample_parts();
    parts.dependencies.clear();
    Trace const trace(parts);
    EXPECT_FALSE(critical_path(trace).has_value());
    EXPECT_EQ(to_text(trace, critical_path(trace)), "critical path: dependencies were not recorded\n");
}

TEST(CriticalPath, PassesThroughTasksThatWereNotRecorded) {
    auto parts = sample_parts();
    parts.dependencies = {{0, 50}, {50, 3}};
    auto const path = critical_path(Trace(parts));
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(path->unknown_tasks, 1);
    EXPECT_EQ(path->length, 4000); // Task 1, alone, is longer than 2000 + 0 + 1000.
}

TEST(CriticalPath, RefusesACycle) {
    auto parts = sample_parts();
    parts.dependencies.push_back({2, 1});
    EXPECT_THROW(critical_path(Trace(parts)), Error);
}

TEST(Comparison, MatchesTasksByNumberAndKindsByName) {
    auto predicted = sample_parts();
    predicted.metadata["origin"] = "predicted";
    // factor: 1000 predicted for 2000 measured, and 4000 for 4000; task 3 is not predicted, task 9 not
    // measured.
    predicted.states = {{0, 1000, 0, 4, 3, 1, 2, false},
                        {0, 4000, 1, 7, 4, 1, 1, false},
                        {4000, 6200, 2, 5, 3, 2, 0, false},
                        {6200, 6300, 9, 5, 3, 2, 0, false}};
    auto const c = compare(Trace(predicted), Trace(sample_parts()));
    ASSERT_EQ(c.kinds.size(), 2u);
    auto const& factor = c.kinds[0];
    EXPECT_EQ(factor.name, "factor");
    EXPECT_EQ(factor.matched, 2);
    EXPECT_EQ(factor.matched_predicted, 5000);
    EXPECT_EQ(factor.matched_measured, 6000);
    EXPECT_DOUBLE_EQ(factor.median_ratio, 1.5);
    EXPECT_DOUBLE_EQ(factor.mean_relative_error, 0.25);
    auto const& update = c.kinds[1];
    EXPECT_EQ(update.predicted.count, 2);
    EXPECT_EQ(update.measured.count, 2);
    EXPECT_EQ(update.matched, 1);
    EXPECT_DOUBLE_EQ(update.mean_relative_error, 0.2); // (2750 - 2200) / 2750
    EXPECT_EQ(c.predicted_makespan, 6200);
    EXPECT_EQ(c.measured_makespan, 6250);
    EXPECT_DOUBLE_EQ(c.makespan_error(), 50.0 / 6250);
}

TEST(StatisticsText, SaysWhatWasFound) {
    auto parts = sample_parts();
    parts.dropped_events = 12;
    Trace const trace(parts);
    auto const text = to_text(trace, statistics(trace, whole(trace)), 1);
    EXPECT_NE(text.find("T0            4.75 us   76.0%    0.0%      0.0%   24.0%        0.0%          2"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("... and 1 more"), std::string::npos);
    EXPECT_NE(text.find("1 messages (0.0008 MB), 1 steals, at most 4096 bytes of memory"), std::string::npos)
        << text;
    EXPECT_NE(text.find("12 events were dropped"), std::string::npos);
    EXPECT_NE(to_text(trace, critical_path(trace)).find("6.75 us in 2 tasks"), std::string::npos);
    EXPECT_NE(to_text(compare(trace, trace)).find("+0.0%"), std::string::npos)
        << to_text(compare(trace, trace));
    EXPECT_EQ(readable_time(1'234'567'890), "1.235 s");
    EXPECT_EQ(readable_time(56'700'000), "56.70 ms");
    EXPECT_EQ(readable_time(999), "999 ns");
}

} // namespace
} // namespace espalier::trace
