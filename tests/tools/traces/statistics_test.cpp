#include "tools/traces/statistics.hpp"

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "espalier/types.hpp"
#include "trace/sample_trace.hpp"

namespace espalier::trace {
namespace {

TEST(Statistics, MatchTheSumsByHand) {
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
    EXPECT_EQ(s.kinds[3].count, 0); // a phase is not a task
    EXPECT_EQ(s.messages, 1);
    EXPECT_EQ(s.message_bytes, 800);
    EXPECT_EQ(s.steals, 1);
    EXPECT_EQ(s.peaks[0], 4096);
    EXPECT_EQ(s.total().busy, 9750);
}

TEST(Statistics, AreCutAtTheWindow) {
    Trace const trace(sample_parts());
    auto const s = statistics(trace, {2000, 5000});
    EXPECT_EQ(s.threads[0].busy, 1000 + 500);
    EXPECT_EQ(s.threads[0].idle, 1500);
    EXPECT_EQ(s.threads[0].tasks, 1);
    EXPECT_EQ(s.threads[1].busy, 3000);
    EXPECT_EQ(s.kinds[1].count, 0); // both start earlier
    EXPECT_EQ(s.peaks, (std::vector<double>{4096, 2.5}));
    auto const solve = phase(trace, "solve");
    ASSERT_TRUE(solve.has_value());
    EXPECT_EQ(solve->begin, 1000);
    EXPECT_EQ(solve->end, 7250);
}

TEST(Statistics, OfThePhasesAddUp) {
    auto parts = sample_parts();
    parts.kinds.push_back({"analysis", Category::work, {0, 0, 0}});
    std::erase_if(parts.states, [](State const& state) { return state.container == 1; });
    parts.states.push_back({1000, 4500, -1, -1, 1, 4, -1, false}); // the steal happens at its end
    parts.states.push_back({4500, 6500, -1, -1, 1, 3, -1, false});
    parts.links.push_back({6500, 6500, 0, 2, 4, 3, 2, LinkKind::steal}); // in no later phase
    Trace const trace(parts);
    auto const of = [&](char const* name) { return statistics(trace, phase(trace, name).value()); };
    EXPECT_EQ(of("analysis").steals, 0);
    EXPECT_EQ(of("solve").steals, 2);
    EXPECT_EQ(of("analysis").peaks[1], 0);
    EXPECT_EQ(of("analysis").total().tasks, 2);
    EXPECT_EQ(of("solve").total().tasks, 2);
    EXPECT_EQ(statistics(trace, whole(trace)).steals, 2);
    EXPECT_EQ(statistics(trace, {1000, 4500}).steals + statistics(trace, {4500, 5500}).steals, 1);
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
    auto const path = critical_path(trace, whole(trace));
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(path->tasks, (std::vector<std::int64_t>{1, 2})); // 4000 + 2750 > 4000 + 1000 and 2000 + 2750.
    EXPECT_EQ(path->length, 6750);
    EXPECT_EQ(path->kinds[1], 4000);
    EXPECT_EQ(path->kinds[2], 2750);
    EXPECT_EQ(path->window.end - path->window.begin, 6250);
    EXPECT_EQ(path->unknown_tasks, 0);
}

TEST(CriticalPath, IsUnknownWithoutDependencies) {
    auto parts = sample_parts();
    parts.dependencies.clear();
    Trace const trace(parts);
    EXPECT_FALSE(critical_path(trace, whole(trace)).has_value());
    EXPECT_EQ(to_text(trace, critical_path(trace, whole(trace))),
              "critical path: no dependencies between tasks are recorded\n");
}

TEST(CriticalPath, PassesThroughTasksThatWereNotRecorded) {
    auto parts = sample_parts();
    parts.dependencies = {{0, 50}, {50, 3}};
    auto const path = critical_path(Trace(parts), {0, 1 << 30});
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(path->unknown_tasks, 1);
    EXPECT_EQ(path->length, 4000); // task 1 alone is longer than 2000 + 0 + 1000
}

TEST(CriticalPath, RefusesACycle) {
    auto parts = sample_parts();
    parts.dependencies.push_back({2, 1});
    EXPECT_THROW(critical_path(Trace(parts), {0, 1 << 30}), Error);
}

State piece(Nanoseconds start, Nanoseconds end, std::int64_t task, std::int64_t cblk, std::int16_t kind,
            std::int32_t container = 3) {
    return {start, end, task, cblk, container, kind, 0, false};
}

TEST(CriticalPath, CountsMessageTasksAndAllKindsOfATask) {
    auto parts = sample_parts();
    // Task 7 is a subtree with nested states, 8 is its message, and 9 waits for 8.
    parts.kinds.push_back({"subtree", Category::work, {}});
    parts.states = {piece(0, 100, 7, 2, 4), piece(0, 30, 7, 1, 1), piece(40, 90, 7, 1, 2),
                    piece(150, 200, 9, 5, 1, 4), piece(500, 900, 20, 0, 3)};
    parts.dependencies = {{7, 8}, {8, 9}, {10, 11}};
    parts.links = {{100, 120, 64, 8, 3, 4, 0, LinkKind::message}};
    Trace const trace(parts);
    auto const path = critical_path(trace, {0, 400});
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(path->tasks, (std::vector<std::int64_t>{7, 8, 9}));
    EXPECT_EQ(path->length, 100 + 20 + 50);
    EXPECT_EQ(path->kinds, (std::vector<Nanoseconds>{0, 30 + 50, 50, 0, 20}));
    EXPECT_EQ(path->messages, 20);
    EXPECT_EQ(path->unknown_tasks, 0); // 10 and 11 are outside of this window
    EXPECT_EQ(path->window.end, 200);
    EXPECT_FALSE(critical_path(trace, {400, 1000}).has_value());
}

TEST(Comparison, MatchesTasksOfOnePlanWithDifferentNumbers) {
    auto predicted = sample_parts(), measured = sample_parts();
    predicted.states = {piece(0, 100, 0, 4, 1), piece(100, 400, 1, 7, 1), piece(400, 500, 2, 9, 2),
                        piece(500, 700, 3, 9, 2)};
    // One graph with shifted numbers on another thread. Task 3 has two pieces. A solve follows.
    measured.states = {piece(1000, 1200, 50, 4, 1, 4),  piece(1200, 1500, 51, 7, 1, 4),
                       piece(1500, 1650, 52, 9, 2, 4),  piece(1650, 1750, 53, 9, 2, 4),
                       piece(1700, 1710, -1, -1, 0, 4), piece(1750, 1860, 53, 9, 2, 4)};
    auto const c = compare(Trace(predicted), Trace(measured));
    EXPECT_EQ(c.match, MatchBy::task);
    ASSERT_EQ(c.kinds.size(), 2u);
    auto const &factor = c.kinds[0], &update = c.kinds[1];
    EXPECT_EQ(factor.name, "factor");
    EXPECT_EQ(factor.matched, 2);
    EXPECT_EQ(factor.matched_predicted, 400);
    EXPECT_EQ(factor.matched_measured, 500);
    EXPECT_DOUBLE_EQ(factor.median_ratio, 1.5);         // of 2 and 1
    EXPECT_DOUBLE_EQ(factor.mean_relative_error, 0.25); // of 1/2 and 0
    EXPECT_DOUBLE_EQ(factor.error(), -0.2);
    EXPECT_EQ(update.matched, 2);
    EXPECT_DOUBLE_EQ(update.mean_relative_error, 1.0 / 6); // of 1/3 and 0
    EXPECT_EQ(c.total.matched, 4);
    EXPECT_EQ(c.total.measured.total, 200 + 300 + 150 + 90 + 110);
    EXPECT_EQ(c.predicted_makespan, 700);
    EXPECT_EQ(c.measured_makespan, 860);
    EXPECT_DOUBLE_EQ(c.makespan_error(), -160.0 / 860);
}

TEST(Comparison, MatchesColumnBlocksIfThePlansDiffer) {
    auto predicted = sample_parts(), measured = sample_parts();
    // One trace has a subtree with nested states, and the other a task for each cblk.
    predicted.kinds.push_back({"subtree", Category::work, {}});
    predicted.states = {piece(0, 100, 0, 1, 4), piece(0, 10, 0, 0, 1), piece(10, 40, 0, 0, 2),
                        piece(40, 90, 0, 1, 1)};
    measured.states = {piece(0, 20, 0, 0, 1), piece(20, 50, 1, 0, 2), piece(50, 100, 2, 1, 1),
                       piece(100, 140, 3, 2, 1)};
    auto const c = compare(Trace(predicted), Trace(measured));
    EXPECT_EQ(c.match, MatchBy::cblk);
    EXPECT_EQ(c.total.matched, 3);
    EXPECT_EQ(c.kinds[0].name, "factor");
    EXPECT_EQ(c.kinds[0].matched_measured, 70);
    EXPECT_EQ(c.kinds[0].measured.total, 110);
    EXPECT_NE(to_text(c).find("matched by column block"), std::string::npos);
}

TEST(Comparison, ComparesTheLastRunOfThePhase) {
    auto predicted = sample_parts(), measured = sample_parts();
    predicted.kinds.push_back({"factorization", Category::work, {}});
    measured.kinds = predicted.kinds;
    predicted.states = {piece(0, 90, 0, 4, 1), piece(0, 100, -1, -1, 4, 1)};
    measured.states = {piece(0, 900, 0, 4, 1),          piece(0, 1000, -1, -1, 4, 1),
                       piece(2000, 2080, 7, 4, 1),      piece(2000, 2200, -1, -1, 4, 1),
                       piece(2050, 2060, -1, -1, 3, 1), // a nested phase
                       piece(3000, 3500, 90, 0, 2)};
    Trace const run(measured);
    auto const c = compare(Trace(predicted), run);
    EXPECT_EQ(c.measured_makespan, 80);
    EXPECT_EQ(c.measured.end - c.measured.begin, 200);
    ASSERT_EQ(c.kinds.size(), 1u);
    EXPECT_EQ(c.kinds[0].matched_measured, 80);
    EXPECT_EQ(phase(run, "factorization", true)->begin, 2000);
    EXPECT_EQ(phase(run, "factorization")->begin, 0);
    EXPECT_EQ(phases(run), (std::vector<std::string>{"factorization", "solve"}));
}

TEST(Comparison, RefusesAPhaseThatOneTraceLacks) {
    auto with = sample_parts();
    with.kinds.push_back({"factorization", Category::work, {}});
    with.states.push_back(piece(0, 100, -1, -1, 4, 1));
    Trace const run(with), other(sample_parts()); // the other trace has only a solve
    EXPECT_TRUE(throws_error(
        Status::usage,
        "cannot compare phase 'factorization', which the predicted trace does not have; it has solve",
        [&] { static_cast<void>(compare(other, run)); }));
    EXPECT_THROW(static_cast<void>(compare(run, other)), Error);
    EXPECT_GT(compare(run, other, "").total.matched, 0);
}

TEST(Comparison, OfEmptyTracesIsEmpty) {
    auto const c = compare(Trace(), Trace());
    EXPECT_EQ(c.total.matched, 0);
    EXPECT_EQ(c.makespan_error(), 0);
}

// A later piece of a state, of no length, does not count as a state.
TEST(Comparison, IgnoresKindsThatDoNotCount) {
    auto parts = sample_parts();
    State piece;
    piece.start = piece.end = 2000, piece.container = 3, piece.kind = 1, piece.continued = true;
    parts.states = {piece};
    parts.links.clear();
    Trace const trace(parts);
    ASSERT_TRUE(is_work(trace, trace.states().front(), whole(trace)));
    auto const c = compare(trace, trace, "");
    EXPECT_TRUE(c.kinds.empty());
    EXPECT_EQ(c.total.matched, 0);
}

TEST(StatisticsText, ContainsTheResults) {
    auto parts = sample_parts();
    parts.dropped_events = 12;
    Trace const trace(parts);
    auto const text = to_text(trace, statistics(trace, whole(trace)), 1);
    for (char const* part :
         {"T0            4.75 us   76.0%    0.0%      0.0%   24.0%        0.0%          2", "... and 1 more",
          "1 message (0.0008 MB), 1 steal, at most 4.1 kB of memory", "12 events dropped"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(to_text(trace, critical_path(trace, whole(trace)))
                  .find("6.75 us, 108.0% of the makespan 6.25 us, in 2 tasks"),
              std::string::npos);
    EXPECT_NE(to_text(compare(trace, trace)).find("+0.0%"), std::string::npos)
        << to_text(compare(trace, trace));
    EXPECT_EQ(readable_time(1'234'567'890), "1.235 s");
    EXPECT_EQ(readable_time(56'700'000), "56.70 ms");
    EXPECT_EQ(readable_time(999), "999 ns");
}

} // namespace
} // namespace espalier::trace
