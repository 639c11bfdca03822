// A predicted trace has the numbers of its schedule, in the form of a recorded trace.
#include "analysis/predicted_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulation/structures.hpp"
#include "tools/traces/statistics.hpp"
#include "trace/kinds.hpp"

namespace espalier {
namespace {

using trace::Kind;
using trace::Place;

MachineModel machine_of(int processes, int threads, std::vector<int> nodes = {}) {
    MachineModel machine;
    machine.processes = processes;
    machine.threads = threads;
    machine.node_of_thread = std::move(nodes);
    machine.spare_cores = 2; // for communication threads, which then disturb no worker
    return machine;
}

double total_of(std::vector<trace::KindTimes> const& kinds, Kind kind) {
    return static_cast<double>(kinds[static_cast<std::size_t>(kind)].total);
}

// On two processes of two threads, each on a NUMA node of its own.
class PredictedTraceOfTwoProcesses : public testing::Test {
  protected:
    BlockStructure structure = random_structure(300, 7);
    CostModel model;
    Schedule schedule = simulate_schedule(structure, model, machine_of(2, 2, {0, 1}));
    trace::Trace trace{predicted_trace(structure, model, schedule, {{"matrix", "random"}})};
    trace::Statistics numbers = trace::statistics(trace, *trace::phase(trace, "factorization"));
    double rounding = 2.0 * static_cast<double>(trace.states().size()); // ns
};

TEST_F(PredictedTraceOfTwoProcesses, HasTheTimesOfTheSchedule) {
    EXPECT_EQ(trace.about("origin"), "predicted");
    EXPECT_EQ(trace.about("matrix"), "random");
    EXPECT_EQ(trace.about("threads"), "2");
    ASSERT_EQ(numbers.threads.size(), 4u + 2u); // one communication thread of each process
    EXPECT_EQ(numbers.progress_threads(), 2);
    for (trace::ThreadTimes const& thread : numbers.threads)
        EXPECT_EQ(thread.is_progress, thread.communication > 0);
    std::erase_if(numbers.threads, [](trace::ThreadTimes const& thread) { return thread.is_progress; });
    for (std::size_t w = 0; w < 4; ++w) {
        EXPECT_NEAR(static_cast<double>(numbers.threads[w].busy), schedule.run.busy[w] * 1e9, rounding);
        EXPECT_EQ(numbers.threads[w].unrecorded, 0);
        EXPECT_GT(numbers.threads[w].idle, 0);
    }
    auto const window = trace::phase(trace, "factorization");
    ASSERT_TRUE(window.has_value());
    EXPECT_EQ(window->end, std::llround(schedule.makespan() * 1e9) + 1);
}

TEST_F(PredictedTraceOfTwoProcesses, HasTheSweepsOfASolveAfterTheFactorization) {
    auto const window = trace::phase(trace, "solve");
    ASSERT_TRUE(window.has_value());
    EXPECT_EQ(window->begin, trace::phase(trace, "factorization")->end);
    EXPECT_EQ(window->end, trace.end());
    EXPECT_NEAR(static_cast<double>(window->end - window->begin), schedule.solve_seconds() * 1e9, 1);
    trace::Statistics const solve = trace::statistics(trace, *window);
    auto const& tasks = schedule.sweeps.tasks.tasks;
    auto const count = [&](SolveTaskKind kind) { return std::ranges::count(tasks, kind, &SolveTask::kind); };
    auto const recorded = [&](Kind kind) { return solve.kinds[static_cast<std::size_t>(kind)].count; };
    EXPECT_EQ(recorded(Kind::forward), count(SolveTaskKind::forward) + count(SolveTaskKind::forward_rows) +
                                           count(SolveTaskKind::send_sum));
    EXPECT_EQ(recorded(Kind::backward), count(SolveTaskKind::backward) + count(SolveTaskKind::backward_rows) +
                                            count(SolveTaskKind::receive_solution));
    EXPECT_EQ(solve.messages, count(SolveTaskKind::message));
    ASSERT_GT(solve.messages, 0);
    EXPECT_EQ(recorded(Kind::send), solve.messages) << "by communication threads";
    EXPECT_EQ(recorded(Kind::receive), solve.messages);
    double busy = 0;
    for (double const seconds : schedule.sweeps.run.busy) busy += seconds * 1e9;
    EXPECT_NEAR(total_of(solve.kinds, Kind::forward) + total_of(solve.kinds, Kind::backward), busy, rounding);
    for (auto const& link : trace.links()) {
        if (link.start < window->begin || link.kind == trace::LinkKind::steal) continue;
        SolveTask const& message = tasks[link.tag - std::ssize(schedule.tasks.tasks)];
        ASSERT_EQ(message.kind, SolveTaskKind::message);
        EXPECT_NE(message.process, message.peer);
    }
}

TEST(PredictedTrace, HasTheStealsOfASimulatedPolicyAsLinks) {
    BlockStructure const structure = random_structure(300, 7);
    CostModel const model;
    ScheduleOptions options;
    options.schedule = SchedulePolicy::places;
    options.allocation = Allocation::local;
    options.splitting = Splitting::two_d;
    options.split_width = 16;
    options.split_rows = 16;
    Schedule const schedule = simulate_schedule(structure, model, machine_of(2, 4, {0, 0, 1, 1}), options);
    trace::Trace const trace{predicted_trace(structure, model, schedule)};
    auto const links = trace.links();
    auto const steals = std::count_if(links.begin(), links.end(), [](trace::Link const& link) {
        return link.kind == trace::LinkKind::steal && link.distance > 0;
    });
    ASSERT_GT(steals, 0);
    EXPECT_EQ(static_cast<std::size_t>(steals),
              schedule.run.steals.size() + schedule.sweeps.run.steals.size());
    EXPECT_EQ(trace::statistics(trace, trace::whole(trace)).steals, steals);
}

TEST_F(PredictedTraceOfTwoProcesses, HasTheContainersOfARun) {
    std::vector<std::string> names;
    for (auto const& container : trace.containers()) names.push_back(container.name);
    EXPECT_EQ(names, (std::vector<std::string>{"machine", "P0", "P0N0", "P0T0", "P0C0", "P0N1", "P0T1", "P1",
                                               "P1N0", "P1T0", "P1C0", "P1N1", "P1T1"}));
    EXPECT_EQ(trace.kinds(), trace::standard_kinds());
    EXPECT_EQ(trace.variables(), trace::standard_variables());
}

TEST_F(PredictedTraceOfTwoProcesses, SendsTheMessagesOfTheSchedule) {
    ASSERT_GT(schedule.messages(), 0);
    EXPECT_EQ(numbers.messages, schedule.messages());
    EXPECT_NEAR(static_cast<double>(numbers.message_bytes), schedule.message_bytes(), 0.5);
    for (auto const& link : trace.links()) {
        if (link.tag >= std::ssize(schedule.tasks.tasks)) continue; // of the solve
        FactorTask const& task = schedule.tasks.tasks[link.tag];
        ASSERT_EQ(task.kind, TaskKind::message);
        auto const process = [&](std::int32_t thread) {
            auto const container = trace.ancestor(static_cast<std::size_t>(thread), Place::process);
            return trace.containers()[container].name;
        };
        EXPECT_EQ(process(link.from), "P" + std::to_string(task.process));
        EXPECT_EQ(process(link.to), "P" + std::to_string(task.peer));
    }
    double most = 0;
    for (ProcessUse const& use : schedule.processes) most = std::max(most, use.memory());
    EXPECT_NEAR(numbers.peaks[static_cast<std::size_t>(trace::Counter::memory)], most, 0.5);
    EXPECT_GT(numbers.peaks[static_cast<std::size_t>(trace::Counter::ready_tasks)], 1);
}

TEST_F(PredictedTraceOfTwoProcesses, HasTheCriticalPathOfTheSchedule) {
    auto const path = trace::critical_path(trace, *trace::phase(trace, "factorization"));
    ASSERT_TRUE(path.has_value());
    // A message may wait for another one on its link, so it takes longer in the run than it costs.
    TaskGraph graph = schedule.tasks.graph;
    for (TaskId t = 0; t < graph.num_tasks(); ++t)
        graph.cost[t] = schedule.run.end[t] - schedule.run.start[t];
    auto const lengths = longest_paths(graph);
    double const longest = *std::max_element(lengths.begin(), lengths.end());
    double const rounding = 2e-9 * static_cast<double>(path->tasks.size());
    EXPECT_NEAR(static_cast<double>(path->length) * 1e-9, longest, rounding);
    EXPECT_GE(longest, schedule.critical_path() - rounding);
    EXPECT_EQ(path->unknown_tasks, 0);
    EXPECT_LE(path->length, trace::phase(trace, "factorization")->end +
                                static_cast<trace::Nanoseconds>(path->tasks.size()));
}

TEST_F(PredictedTraceOfTwoProcesses, ShowsWhatASubtreeDoesUnlessThatIsTooMuch) {
    auto const& tasks = schedule.tasks.tasks;
    trace::Trace const brief(predicted_trace(structure, model, schedule, {}, 10));
    EXPECT_LT(brief.states().size(), trace.states().size());
    auto const brief_kinds = trace::statistics(brief, *trace::phase(brief, "factorization")).kinds;
    // Every cblk is factorized once, and the states of a subtree contain all of its work.
    EXPECT_EQ(numbers.kinds[static_cast<std::size_t>(Kind::factor)].count, structure.num_cblks());
    EXPECT_LT(total_of(numbers.kinds, Kind::subtree), rounding);
    EXPECT_GT(total_of(brief_kinds, Kind::subtree), 0);
    double panels = 0;
    for (Cblk const& cblk : structure.cblks) panels += model.panel(cblk) * 1e9;
    EXPECT_NEAR(total_of(numbers.kinds, Kind::factor), panels, rounding);
    double updates = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t)
        if (tasks[t].kind == TaskKind::update) updates += schedule.tasks.graph.cost[t] * 1e9;
    EXPECT_NEAR(total_of(brief_kinds, Kind::update), updates, rounding);
    EXPECT_GT(total_of(numbers.kinds, Kind::update), updates + rounding);
    // Both traces are predictions of the same tasks.
    EXPECT_EQ(trace::compare(brief, trace).match, trace::MatchBy::task);
}

TEST(PredictedTrace, MatchesARunOfTheSamePlanOrTheSameColumnBlocks) {
    BlockStructure const structure = random_structure(200, 3);
    CostModel const model;
    auto const predicted = [&](int threads) {
        return predicted_trace(structure, model, simulate_schedule(structure, model, machine_of(1, threads)));
    };
    trace::TraceParts run = predicted(2);
    for (auto& state : run.states) state.start *= 2, state.end *= 2, state.task += state.task < 0 ? 0 : 1000;
    for (auto& edge : run.dependencies) edge.before += 1000, edge.after += 1000;
    trace::Trace const measured(std::move(run));
    auto const same = trace::compare(trace::Trace(predicted(2)), measured);
    EXPECT_EQ(same.match, trace::MatchBy::task);
    EXPECT_GE(same.total.matched, structure.num_cblks());
    EXPECT_DOUBLE_EQ(same.total.median_ratio, 2);
    EXPECT_DOUBLE_EQ(same.makespan_error(), -0.5);
    auto const other = trace::compare(trace::Trace(predicted(1)), measured);
    EXPECT_EQ(other.match, trace::MatchBy::cblk);
    EXPECT_EQ(other.kinds[0].name, "factor");
    EXPECT_EQ(other.kinds[0].matched, structure.num_cblks());
    EXPECT_NEAR(other.kinds[0].error(), -0.5, 0.01);
}

TEST(PredictedTrace, LeavesOutWhatASchurComplementKeeps) {
    BlockStructure structure = random_structure(60, 5);
    structure.first_kept_cblk = structure.num_cblks() - 1;
    CostModel const model;
    Schedule const schedule = simulate_schedule(structure, model, machine_of(1, 2));
    trace::Trace const trace(predicted_trace(structure, model, schedule));
    auto const kinds = trace::statistics(trace, trace::whole(trace)).kinds;
    EXPECT_EQ(kinds[static_cast<std::size_t>(Kind::factor)].count, structure.num_cblks() - 1);
}

} // namespace
} // namespace espalier
