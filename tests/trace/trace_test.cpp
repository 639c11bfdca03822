#include "trace/trace.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "espalier/types.hpp"
#include "tools/traces/paje_read.hpp"
#include "tools/traces/statistics.hpp"
#include "trace/clock_offset.hpp"
#include "trace/kinds.hpp"
#include "trace/paje.hpp"
#include "trace/sample_trace.hpp"

namespace espalier::trace {
namespace {

State state(Nanoseconds start, Nanoseconds end, std::int16_t kind, std::int32_t container = 3) {
    State result;
    result.start = start, result.end = end, result.kind = kind, result.container = container;
    return result;
}

TEST(Trace, SortsStatesByContainerAndTime) {
    Trace const trace(sample_parts());
    ASSERT_EQ(trace.states_of(3).size(), 3u);
    EXPECT_EQ(trace.states_of(3)[0].start, 1000);
    EXPECT_EQ(trace.states_of(3)[2].task, 2);
    EXPECT_EQ(trace.states_of(4)[0].task, 1);
    EXPECT_EQ(trace.states_of(0).size(), 0u);
    EXPECT_EQ(trace.links().front().kind, LinkKind::steal);
    EXPECT_EQ(trace.begin(), 1000);
    EXPECT_EQ(trace.end(), 7250);
    EXPECT_EQ(trace.about("matrix"), "lap2d:3");
    EXPECT_EQ(trace.about("nothing"), "");
    EXPECT_EQ(trace.ancestor(4, Place::process), 1);
}

TEST(Trace, CutsAStateWhereAnotherOneIsNested) {
    auto parts = sample_parts();
    parts.states = {state(0, 100, 1), state(20, 30, 0), state(22, 25, 2), state(100, 120, 2),
                    state(100, 120, 1)};
    Trace const trace(parts);
    using Piece = std::tuple<Nanoseconds, Nanoseconds, int, bool>; // start, end, kind, continued
    std::vector<Piece> pieces;
    for (State const& s : trace.states()) pieces.emplace_back(s.start, s.end, s.kind, s.continued);
    // The last state covers the one before, which keeps an empty piece.
    EXPECT_EQ(pieces, (std::vector<Piece>{{0, 20, 1, false},
                                          {20, 22, 0, false},
                                          {22, 25, 2, false},
                                          {25, 30, 0, true},
                                          {30, 100, 1, true},
                                          {100, 120, 1, false},
                                          {120, 120, 2, false}}));
}

TEST(Trace, KeepsEmptyStates) {
    auto parts = sample_parts();
    parts.states = {state(0, 10, 1), state(10, 10, 0), state(10, 20, 2), state(20, 20, 1)};
    EXPECT_EQ(Trace(parts).states(), parts.states);
}

TEST(Trace, RefusesInconsistentParts) {
    struct Case {
        void (*spoil)(TraceParts&);
        char const* message;
    };
    Case const cases[] = {
        {[](TraceParts& p) { p.states.push_back(state(2000, 3500, 2)); },
         "trace: states 'factor' and 'update' overlap in 'T0' at 2000 ns"},
        {[](TraceParts& p) { p.states[0].container = 2; }, "'N0', which is neither a thread nor a process"},
        {[](TraceParts& p) { p.states[0].kind = 4; }, "unknown kind"},
        {[](TraceParts& p) { p.states[0].end = 0; }, "ends before it starts"},
        {[](TraceParts& p) { p.containers[3].parent = 4; }, "precedes its parent"},
        {[](TraceParts& p) { p.containers[3].parent = 1; }, "'T0', a thread, has the wrong parent"},
        {[](TraceParts& p) { p.samples[0].container = 2; }, "which is not a process"},
        {[](TraceParts& p) { p.links[0].to = 1; }, "from thread to thread"},
        {[](TraceParts& p) { p.kinds[1].name = "update"; }, "two kinds of states"}};
    for (auto const& [spoil, message] : cases) {
        auto parts = sample_parts();
        spoil(parts);
        EXPECT_TRUE(throws_error(Status::bad_input, message, [&] { Trace{parts}; }));
    }
}

TEST(Trace, JoinsTheEndsOfMessagesInOrder) {
    auto parts = sample_parts();
    parts.links.clear();
    // Process 0 sends twice with one tag. The second message arrives before it is sent, by another clock.
    parts.message_ends = {{40, 8, 5, 0, 1, 3, true},  {20, 8, 5, 0, 1, 3, true}, {35, 8, 5, 0, 1, 4, false},
                          {30, 8, 5, 0, 1, 4, false}, {10, 8, 6, 0, 1, 3, true}, {10, 8, 7, 1, 0, 3, false}};
    Trace const trace(parts);
    ASSERT_EQ(trace.links().size(), 2u);
    EXPECT_EQ(trace.links()[0], (Link{20, 30, 8, 5, 3, 4, 0, LinkKind::message}));
    EXPECT_EQ(trace.links()[1], (Link{40, 40, 8, 5, 3, 4, 0, LinkKind::message}));
    EXPECT_EQ(trace.unmatched_messages(), 2);
}

TEST(Trace, ShiftsNegativeTimesToZero) {
    auto parts = sample_parts();
    parts.samples[0].time = -250;
    Trace const trace(parts);
    EXPECT_EQ(trace.samples()[0].time, 0);
    EXPECT_EQ(trace.states_of(3)[0].start, 1250);
    EXPECT_EQ(trace.end(), 7500);
}

TEST(Trace, IsUnchangedByPackingAndUnpacking) {
    auto parts = sample_parts();
    parts.dropped_events = 3;
    parts.message_ends = {{40, 8, 5, 0, 1, 3, true}};
    auto bytes = pack(parts);
    auto const back = unpack(bytes);
    EXPECT_EQ(text_of(Trace(back)), text_of(Trace(parts)));
    ASSERT_EQ(back.message_ends.size(), 1u);
    EXPECT_EQ(back.message_ends[0].bytes, 8);

    for (std::size_t cut = 0; cut < bytes.size(); cut += 13)
        EXPECT_THROW(unpack(std::span(bytes).first(cut)), Error) << cut;
    bytes.push_back(std::byte{0});
    EXPECT_THROW(unpack(bytes), Error);
}

TEST(Trace, MergesProcessesOnOneMachine) {
    auto first = sample_parts(), second = sample_parts();
    second.containers[1].name = "P1";
    first.message_ends = {{5100, 64, 9, 0, 1, 3, true}};
    second.message_ends = {{5900, 64, 9, 0, 1, 4, false}};
    auto const all = merge({first, second});
    Trace const trace(all);
    ASSERT_EQ(trace.containers().size(), 9u);
    EXPECT_EQ(trace.at(Place::machine).size(), 1u);
    EXPECT_EQ(trace.at(Place::thread), (std::vector<std::int32_t>{3, 4, 7, 8}));
    EXPECT_EQ(trace.containers()[7].parent, 6);
    EXPECT_EQ(trace.states_of(8).size(), 2u);
    EXPECT_EQ(trace.links().size(), 5u);
    EXPECT_EQ(trace.links().back(), (Link{5100, 5900, 64, 9, 3, 8, 0, LinkKind::message}));
    second.kinds.pop_back();
    EXPECT_THROW(merge({first, second}), Error);
}

TEST(Trace, KeepsMachinesOfDifferentNamesApart) {
    auto first = sample_parts(), second = sample_parts(), third = sample_parts();
    second.containers[0].name = "other";
    third.containers[0].name = "other";
    Trace const trace(merge({first, second, third}));
    EXPECT_EQ(trace.at(Place::machine), (std::vector<std::int32_t>{0, 5}));
    EXPECT_EQ(trace.at(Place::thread), (std::vector<std::int32_t>{3, 4, 8, 9, 12, 13}));
    EXPECT_EQ(trace.ancestor(13, Place::machine), 5);
    EXPECT_EQ(trace.states_of(13).size(), trace.states_of(4).size());
}

// The clock is 1000 ahead at first, and 1200 after 20000; time zero is 500.
TEST(Trace, SetsTheClockOfAnotherProcess) {
    TraceParts parts = sample_parts();
    parts.states = {{3000, 13000, -1, -1, 3, 0, -1, false}};
    parts.links = {{23000, 33000, 0, 0, 3, 4, 0, LinkKind::steal}};
    parts.message_ends = {{1000, 8, 5, 0, 1, 3, true}};
    parts.samples = {{8000, 1, 1, 0}};
    set_clock(parts, {.at = 3000, .offset = 1000, .error = 1}, {.at = 23000, .offset = 1200, .error = 1},
              500);
    EXPECT_EQ(parts.states[0].start, 1500);
    EXPECT_EQ(parts.states[0].end, 11400);
    EXPECT_EQ(parts.links[0].start, 21300);
    EXPECT_EQ(parts.links[0].end, 31300);
    EXPECT_EQ(parts.message_ends[0].time, -500);
    EXPECT_EQ(parts.samples[0].time, 6450);
}

TEST(Trace, CountsMessagesThatArriveBeforeTheyAreSent) {
    auto parts = sample_parts();
    parts.message_ends = {{5900, 64, 9, 0, 1, 3, true},
                          {5100, 64, 9, 0, 1, 4, false},
                          {100, 64, 8, 0, 1, 3, true},
                          {99, 64, 8, 0, 1, 4, false}};
    parts.metadata[clock_error_key] = "850 ns";
    Trace const trace(parts);
    EXPECT_EQ(trace.early_messages(), 2);
    EXPECT_EQ(trace.earliest_by(), 800);
    for (Link const& link : trace.links()) EXPECT_LE(link.start, link.end);
    reading::TemporaryDirectory const folder;
    Trace const again = read_paje(folder.write("trace.paje", text_of(trace)));
    EXPECT_EQ(again.early_messages(), 2);
    EXPECT_EQ(again.earliest_by(), 800);
    std::string const text = to_text(again, statistics(again, whole(again)));
    EXPECT_NE(text.find("within 850 ns of that of P0"), std::string::npos);
    EXPECT_NE(text.find("2 messages arrived up to 800 ns before being sent"), std::string::npos);
    EXPECT_EQ(text.find("the errors of the clocks are smaller"), std::string::npos);
    parts.metadata[clock_error_key] = "350 ns";
    Trace const worse(parts);
    EXPECT_NE(to_text(worse, statistics(worse, whole(worse))).find("the errors of the clocks are smaller"),
              std::string::npos);
}

TEST(Trace, FillsTheGapsOfASimulatedScheduleWithIdleTime) {
    auto parts = sample_parts();
    fill_idle(parts, 0, 500, 8000);
    Trace const trace(parts);
    for (std::size_t const thread : {3u, 4u}) {
        Nanoseconds at = 500;
        for (State const& s : trace.states_of(thread)) {
            EXPECT_EQ(s.start, at);
            at = s.end;
        }
        EXPECT_EQ(at, 8000);
    }
    EXPECT_EQ(trace.states_of(1).size(), 1u);
}

TEST(Kinds, HaveUniqueNamesAtTheirIndices) {
    auto const kinds = standard_kinds();
    ASSERT_EQ(kinds.size(), static_cast<std::size_t>(Kind::refinement) + 1);
    EXPECT_EQ(kinds[static_cast<std::size_t>(Kind::update)].name, "update");
    EXPECT_EQ(kinds[static_cast<std::size_t>(Kind::reading)].name, "reading");
    EXPECT_EQ(kinds[static_cast<std::size_t>(Kind::refinement)].name, "refinement");
    EXPECT_EQ(kinds[static_cast<std::size_t>(Kind::idle)].color, idle_color);
    TraceParts parts;
    parts.kinds = kinds;
    EXPECT_NO_THROW(Trace{parts});
}

} // namespace
} // namespace espalier::trace
