#include "trace/paje.hpp"

#include <ctime>

#include <gtest/gtest.h>

#include "common/mutations.hpp"
#include "core/status_of.hpp"
#include "espalier/types.hpp"
#include "tools/traces/paje_read.hpp"
#include "trace/sample_trace.hpp"

namespace espalier::trace {
namespace {

// Reads a trace from a file with this text.
Trace read_text(std::string const& text) {
    reading::TemporaryDirectory const folder;
    return read_paje(folder.write("trace.paje", text));
}

// The text has every part of a trace.
void expect_equal(Trace const& a, Trace const& b) {
    EXPECT_EQ(text_of(a), text_of(b));
}

// The golden file was checked by hand against the format, and ViTE and pj_dump accept it.
TEST(Paje, WritesTheGoldenTrace) {
    auto const path = std::filesystem::path(__FILE__).parent_path() / "golden" / "small.paje";
    EXPECT_EQ(text_of(Trace(sample_parts())), reading::content_of(path));
    expect_equal(read_paje(path.string()), Trace(sample_parts()));
}

TEST(Paje, ReadsBackWhatItWrote) {
    auto parts = sample_parts();
    parts.dropped_events = 5;
    parts.unmatched_messages = 2;
    parts.metadata["path"] = "a = b \"quoted\"\n";
    for (std::int64_t t = 100; t < 4000; ++t) parts.dependencies.push_back({t - 90, t / 10});
    State nested;
    nested.start = 1500, nested.end = 1600, nested.container = 3;
    State empty;
    empty.start = empty.end = 3000, empty.container = 4;
    parts.states.push_back(nested);
    parts.states.push_back(empty);
    Trace const back = read_text(text_of(Trace(parts)));
    EXPECT_EQ(back.about("path"), "a = b 'quoted' ");
    parts.metadata["path"] = "a = b 'quoted' ";
    expect_equal(back, Trace(parts));
}

TEST(Paje, IsSortedByTimeWithShortLines) {
    auto parts = sample_parts();
    parts.metadata["long"] = std::string(100'000, 'x');
    for (std::int64_t t = 0; t < 5000; ++t) parts.dependencies.push_back({t, 1'000'000'000'000});
    std::string const text = text_of(Trace(parts));
    double last = 0;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = text.find('\n', at);
        std::string const line = text.substr(at, end - at);
        at = end + 1;
        EXPECT_LT(line.size(), 4000u);
        if (line[0] == '%' || std::stoi(line) < 6) continue;
        double const time = std::stod(line.substr(line.find(' ')));
        EXPECT_GE(time, last);
        last = time;
    }
    EXPECT_EQ(last, 7.25);
}

// A file of another program, with other numbers and orders of fields, older names, a stack of states, unknown
// types and unknown events.
char const* const foreign = R"(# made elsewhere
%EventDef PajeDefineContainerType 10
% Name string
% ContainerType string
% Alias string
%EndEventDef
%EventDef	PajeDefineStateType	11
%	Alias	string
%	ContainerType	string
%	Name	string
%EndEventDef
%EventDef PajeDefineLinkType 12
% Alias string
% ContainerType string
% SourceContainerType string
% DestContainerType string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 20
% Alias string
% Time date
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajePushState 30
% Container string
% Value string
% Type string
% Time date
% Size int
%EndEventDef
%EventDef PajePopState 31
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeSomethingNew 40
% Wonder string
%EndEventDef
%EventDef PajeEndLink 51
% Time date
% Type string
% Container string
% Value string
% DestContainer string
% Key string
%EndEventDef
%EventDef PajeStartLink 50
% Time date
% Type string
% Container string
% Value string
% SourceContainer string
% Key string
%EndEventDef
10 "Site" 0 CT
10 "Host" CT HT
11 ST HT "MPI State"
12 LT CT HT HT "comm"
20 site 0 CT 0 "the site"
20 h1 0 HT site "host 1"
20 h2 0 HT site "host 2"
30 h1 compute "MPI State" 1 77
40 "what is this" and more
30 h1 "MPI_Wait" ST 2.5 78
50 2.5e0 LT site x h1 key1
51 3 LT site x h2 key1
31 4 ST h1
30 "host 2" compute ST 4 79
31 6 ST h1
)";

TEST(Paje, ReadsAnotherProgramsFileByItsDefinitions) {
    Trace const trace = read_text(foreign);
    auto const threads = trace.at(Place::thread);
    ASSERT_EQ(threads.size(), 2u);
    EXPECT_EQ(trace.containers()[threads[0]].name, "host 1");
    ASSERT_EQ(trace.kinds().size(), 2u);
    EXPECT_EQ(trace.kinds()[1].name, "MPI_Wait");
    EXPECT_EQ(trace.kinds()[1].category, Category::idle);
    auto const states = trace.states_of(threads[0]);
    ASSERT_EQ(states.size(), 3u);
    EXPECT_EQ(states[0].end, 2'500);
    EXPECT_EQ(states[1].kind, 1);
    EXPECT_EQ(states[2].start, 4'000);
    EXPECT_TRUE(states[2].continued);
    ASSERT_EQ(trace.states_of(threads[1]).size(), 1u); // open until the end of the file
    EXPECT_EQ(trace.states_of(threads[1])[0].end, 6'000);
    ASSERT_EQ(trace.links().size(), 1u);
    EXPECT_EQ(trace.links()[0].end - trace.links()[0].start, 500);
}

std::string error_of(std::string const& text) {
    reading::TemporaryDirectory const folder;
    auto const path = folder.write("trace.paje", text);
    std::string what;
    EXPECT_EQ(status_of([&] { read_paje(path); }, &what), Status::bad_input) << what;
    EXPECT_EQ(what.find(path), 0u) << what;
    return what.substr(std::min(what.size(), path.size()));
}

TEST(Paje, SurvivesAnyChange) {
    reading::TemporaryDirectory const folder;
    auto const whole = text_of(Trace(sample_parts()));
    // The definitions at the head are the longer part.
    for (std::string const& text : {whole, whole.substr(0, whole.size() / 2)})
        EXPECT_GT(test::refused_mutations(text,
                                          [&](std::string const& changed) {
                                              Trace const trace =
                                                  read_paje(folder.write("trace.paje", changed));
                                              EXPECT_FALSE(text_of(trace).empty());
                                          }),
                  0);
}

TEST(Paje, NamesFileAndLineOfWhatItCannotRead) {
    std::string const head = "%EventDef PajeCreateContainer 1\n% Time date\n% Alias string\n% Type string\n"
                             "% Container string\n% Name string\n%EndEventDef\n";
    EXPECT_EQ(error_of(""), ": the file has no events, so it is not a Paje trace");
    EXPECT_EQ(error_of("hello\n"), ":1: number of an event: 'hello' is not a whole number");
    EXPECT_EQ(error_of(std::string("\x7f"
                                   "ELF\0\1",
                                   6)),
              ":1: number of an event: '?ELF?\?' is not a whole number");
    EXPECT_EQ(error_of("5 a b\n"), ":1: event '5' is not defined");
    EXPECT_EQ(error_of("99999999999999999999 a\n"),
              ":1: number of an event: '99999999999999999999' is not a whole number");
    EXPECT_EQ(error_of("% Time date\n"),
              ":1: not a Paje trace: '% Time date' is outside an event definition");
    EXPECT_EQ(error_of("%EventDef PajeSetState\n"), ":1: an event definition needs a name and a number");
    EXPECT_EQ(error_of(head + head), ":8: event '1' is defined twice");
    EXPECT_EQ(error_of("%EventDef PajeSetState 4\n% Time date\n"), ":2: the file ends inside a definition");
    EXPECT_EQ(error_of(head + "1 0 a\n"), ":8: the event has fewer fields than its definition");
    EXPECT_EQ(error_of(head + "1 0 a 0 \"b c\n"), ":8: a quotation mark is not closed");
    EXPECT_EQ(error_of(head + "1 0 a T 0 x\n"), ":8: type 'T' is not defined");
    EXPECT_EQ(error_of(head + "1 nan a 0 0 x\n"), ":8: time: 'nan' is not a number");
    EXPECT_EQ(error_of(head + "1 1e300 a 0 0 x\n"), ":8: time '1e300' is too large");
    EXPECT_EQ(error_of(head + "1 2 a 0 0 x\n1 1 b 0 0 y\n"),
              ":9: the time is before that of the previous event");
    EXPECT_EQ(error_of(head + "1 2 a 0 0 x\n1 2 a 0 0 y\n"), ":9: 'a' is defined twice");
    EXPECT_EQ(error_of(head + "1 2 a 0 nobody x\n"), ":8: container 'nobody' does not exist");
}

TEST(Paje, SurvivesEveryCutAndManyBrokenBytes) {
    std::string const text = text_of(Trace(sample_parts()));
    std::uint64_t random = 1;
    auto const next = [&] { return random = random * 6364136223846793005u + 1442695040888963407u; };
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        std::string broken = text;
        if (i % 2 == 0)
            broken.resize(next() % broken.size());
        else
            for (int k = 0; k < 4; ++k) broken[next() % broken.size()] = static_cast<char>(next() >> 40);
        refused += status_of([&] { read_text(broken); }) != Status::ok;
    }
    EXPECT_GT(refused, 100);
}

TEST(Paje, WritesAndReadsManyStatesInLinearTime) {
    TraceParts parts = sample_parts();
    parts.states.clear();
#ifdef NDEBUG
    constexpr int count = 100'000;
#else // not optimized
    constexpr int count = 30'000;
#endif
    for (int i = 0; i < count; ++i) {
        State s;
        s.start = i / 2 * 1000, s.end = s.start + 900, s.task = i, s.cblk = i / 3;
        s.container = 3 + i % 2, s.kind = 2;
        parts.states.push_back(s);
    }
    Trace const trace(parts);
    std::clock_t const start = std::clock();
    std::string const text = text_of(trace);
    EXPECT_EQ(read_text(text).states(), trace.states());
    // Processor time, which does not depend on other processes: about 0.1 s.
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 4.0);
    EXPECT_LT(text.size(), std::size_t(count) * 80);
}

} // namespace
} // namespace espalier::trace
