// The common trace of several processes, which are threads of the test.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/reading.hpp"
#include "tools/traces/paje_read.hpp"
#include "tools/traces/statistics.hpp"
#include "trace/clock_offset.hpp"

#include "comm/thread_processes.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

class ProcessesTrace : public ::testing::Test {
  protected:
    reading::TemporaryDirectory const folder;
};

Options recording(SchedulePolicy schedule, int comm_threads) {
    Options options = on_threads(2);
    options.schedule = schedule;
    options.max_block_width = 16;
    options.min_block_width = 8;
    options.comm_threads = comm_threads;
    options.calibration = Toggle::off;
    options.refine = RefineMethod::ir;
    options.record_trace = true;
    return options;
}

// Records a run of 3 processes with 2 threads each.
trace::Trace run_traced(CscMatrix<double> const& matrix, Options const& options, std::string const& file,
                        Report& report) {
    run_processes(3, [&](Communicator const& comm) {
        bool const leads = comm.rank() == 0;
        Options mine = options;
        mine.record_trace = leads; // the others follow process 0
        Solver<double> solver(mine, comm);
        CscMatrix<double> const own = on_process_0(comm, matrix);
        std::vector<double> const b(static_cast<std::size_t>(own.rows), 1);
        solver.factorize(own);
        std::vector<double> x = solver.solve(b);
        x.assign(x.size(), 0); // so that refinement has work to do
        solver.refine(own, b, x);
        solver.write_trace(leads ? file : "", leads ? "lap3d:9" : "");
        EXPECT_THROW(solver.write_trace(leads ? file + "-empty" : ""), Error);
        if (leads) report = solver.report();
    });
    return trace::read_paje(file);
}

std::set<std::string> names_of_threads(trace::Trace const& trace) {
    std::set<std::string> names;
    for (std::size_t const thread : trace.at(trace::Place::thread))
        names.insert(trace.containers()[thread].name);
    return names;
}

std::int64_t bytes_sent_in(trace::Trace const& trace, char const* phase) {
    return trace::statistics(trace, *trace::phase(trace, phase)).message_bytes;
}

TEST_F(ProcessesTrace, HasAllThreadsAndEveryMessage) {
    auto const matrix = generated<double>("lap3d:9");
    std::set<std::string> const progress[] = {
        {}, {"P0C0", "P1C0", "P2C0"}, {"P0C0", "P0C1", "P1C0", "P1C1", "P2C0", "P2C1"}};
    for (auto const schedule : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree})
        for (int const comm_threads : {0, 1, 2}) {
            SCOPED_TRACE(fmt::format("{}, {} communication threads", to_string(schedule), comm_threads));
            Report report;
            trace::Trace const run =
                run_traced(matrix, recording(schedule, comm_threads), folder.file("run.paje"), report);
            std::set<std::string> expected{"P0T0", "P0T1", "P1T0", "P1T1", "P2T0", "P2T1"};
            expected.insert(progress[comm_threads].begin(), progress[comm_threads].end());
            EXPECT_EQ(names_of_threads(run), expected);
            EXPECT_EQ(run.at(trace::Place::process).size(), 3u);
            EXPECT_EQ(run.about("matrix"), "lap3d:9");
            EXPECT_EQ(run.about("processes"), "3");
            EXPECT_EQ(run.about(trace::clock_error_key), "0 ns"); // all processes are on one system
            EXPECT_EQ(run.unmatched_messages(), 0);
            EXPECT_EQ(run.early_messages(), 0);
            EXPECT_EQ(run.dropped_events(), 0);
            EXPECT_EQ(bytes_sent_in(run, "factorization"), report.factor.message_bytes);
            EXPECT_GT(bytes_sent_in(run, "solve"), 0);
            EXPECT_GT(bytes_sent_in(run, "refinement"), 0);

            auto const window = *trace::phase(run, "factorization");
            trace::Statistics const statistics = trace::statistics(run, window);
            EXPECT_EQ(statistics.messages, report.factor.messages);
            EXPECT_EQ(statistics.progress_threads(), 3 * comm_threads);
            EXPECT_EQ(statistics.total_of(true).busy, 0);
            EXPECT_GT(statistics.total_of(comm_threads > 0).communication, 0);
            EXPECT_GT(statistics.total_of(false).busy, 0);
        }
}

// In the factorization and in all sweeps, a message connects a task of its sender and a task of another
// process that waits for it. Each task is recorded once.
TEST_F(ProcessesTrace, FollowsMessagesFromTaskToTask) {
    auto const matrix = generated<double>("lap3d:9");
    Report report;
    trace::Trace const run =
        run_traced(matrix, recording(SchedulePolicy::static_order, 1), folder.file("run.paje"), report);
    auto const process_of = [&](std::int32_t container) {
        return run.ancestor(static_cast<std::size_t>(container), trace::Place::process);
    };
    std::map<std::int64_t, trace::State> state_of_task;
    for (trace::State const& state : run.states()) {
        if (state.task < 0) continue;
        auto const [at, fresh] = state_of_task.try_emplace(state.task, state);
        if (!fresh) {
            EXPECT_EQ(at->second.container, state.container)
                << "task " << state.task << " ran on two threads";
            at->second.end = std::max(at->second.end, state.end);
        }
    }
    std::map<std::int64_t, trace::Link> message_of_tag;
    for (trace::Link const& link : run.links()) {
        if (link.kind != trace::LinkKind::message) continue;
        EXPECT_LE(link.start, link.end);
        EXPECT_NE(process_of(link.from), process_of(link.to));
        EXPECT_TRUE(message_of_tag.emplace(link.tag, link).second) << "two messages " << link.tag;
    }
    std::set<std::int64_t> left, came;
    for (auto const& [before, after] : run.dependencies()) {
        if (auto const message = message_of_tag.find(after); message != message_of_tag.end()) {
            trace::State const& sender = state_of_task.at(before);
            left.insert(after);
            EXPECT_LE(sender.end, message->second.start);
            EXPECT_EQ(process_of(sender.container), process_of(message->second.from));
        } else if (auto const incoming = message_of_tag.find(before); incoming != message_of_tag.end()) {
            trace::State const& receiver = state_of_task.at(after);
            came.insert(before);
            EXPECT_LE(incoming->second.end, receiver.start);
            EXPECT_EQ(process_of(receiver.container), process_of(incoming->second.to));
        } else {
            EXPECT_LE(state_of_task.at(before).end, state_of_task.at(after).start);
        }
    }
    EXPECT_EQ(left.size(), message_of_tag.size());
    EXPECT_EQ(came, left);
    for (char const* const phase : {"factorization", "solve", "refinement"}) {
        SCOPED_TRACE(phase);
        auto const window = *trace::phase(run, phase);
        auto const messages = std::count_if(message_of_tag.begin(), message_of_tag.end(), [&](auto const& m) {
            return m.second.start >= window.begin && m.second.start < window.end;
        });
        EXPECT_GT(messages, 0);
        if (phase == std::string("factorization")) {
            EXPECT_EQ(messages, report.factor.messages);
        }
        auto const path = trace::critical_path(run, window);
        ASSERT_TRUE(path);
        EXPECT_EQ(path->unknown_tasks, 0);
        EXPECT_GT(path->length, 0);
        EXPECT_LE(path->length, path->window.end - path->window.begin);
    }
}

TEST_F(ProcessesTrace, IsComparableWithItsPrediction) {
    auto const matrix = generated<double>("lap3d:9");
    Options const options = recording(SchedulePolicy::static_order, 1);
    Report report;
    trace::Trace const run = run_traced(matrix, options, folder.file("run.paje"), report);
    Solver<double> alone(options);
    alone.analyze(matrix);
    alone.write_predicted_trace(folder.file("predicted.paje"), 3, 2);
    trace::Trace const predicted = trace::read_paje(folder.file("predicted.paje"));
    EXPECT_EQ(predicted.metadata().at("comm threads"), std::to_string(alone.predict(3, 2).comm_threads));
    auto const comparison = trace::compare(predicted, run);
    EXPECT_EQ(comparison.match, trace::MatchBy::task);
    EXPECT_EQ(comparison.total.matched, comparison.total.predicted.count);
    for (char const* const phase : {"factorization", "solve"})
        EXPECT_EQ(trace::statistics(predicted, *trace::phase(predicted, phase)).message_bytes,
                  bytes_sent_in(run, phase))
            << phase;
}

TEST_F(ProcessesTrace, IncludesProcessesThatFollow) {
    auto const matrix = generated<double>("lap3d:7");
    run_processes(3, [&](Communicator const& comm) {
        if (comm.rank() > 0) return Solver<double>::follow({}, comm);
        Options options = recording(SchedulePolicy::dynamic_tree, 1);
        options.record_trace = false;
        auto solver = factorized(matrix, options, comm);
        EXPECT_THROW(solver.write_trace(folder.file("none.paje")), Error);
        options.record_trace = true; // there is no analysis yet
        solver.set_options(options);
        solver.factorize(matrix);
        EXPECT_THROW(solver.write_trace(folder.file("nowhere/run.paje")), Error); // the records are kept
        solver.write_trace(folder.file("run.paje"));
        solver.factorize(matrix);
        solver.write_trace(folder.file("again.paje"));
    });
    for (char const* const file : {"run.paje", "again.paje"}) {
        trace::Trace const run = trace::read_paje(folder.file(file));
        EXPECT_EQ(names_of_threads(run).size(), 9u);
        EXPECT_EQ(run.unmatched_messages(), 0);
        EXPECT_GT(bytes_sent_in(run, "factorization"), 0);
    }
    EXPECT_FALSE(std::filesystem::exists(folder.file("none.paje")));
}

} // namespace
} // namespace espalier
