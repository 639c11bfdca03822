
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "policies/static_policy.hpp"
#include "simulation/candidate_queues.hpp"
#include "simulation/graphs.hpp"
#include "tasks/factor_tasks.hpp"

namespace espalier {
namespace {

TEST(Engine, WorksASmallExampleByHand) {
    // 0 (3) -> 2 (2) -> 4 (1), 1 (1) -> 3 (2). Worker 0 may run 0, 2, 4 and worker 1 all of them.
    auto const graph = graph_of({3, 1, 2, 2, 1}, {{2}, {3}, {4}, {}, {}});
    Candidates const both{0, 2}, last{1, 2};
    std::vector<TaskRange> const ranges{{both, both}, {last, last}, {both, both}, {last, last}, {both, both}};
    CandidateQueues queues(graph, ranges, 2);
    auto const run = simulate(graph, queues, 2);
    EXPECT_EQ(run.start, (std::vector<double>{0, 0, 3, 1, 5}));
    EXPECT_EQ(run.end, (std::vector<double>{3, 1, 5, 3, 6}));
    EXPECT_EQ(run.lists, (std::vector<std::vector<TaskId>>{{0, 2, 4}, {1, 3}}));
    EXPECT_EQ(run.busy, (std::vector<double>{6, 3}));
    EXPECT_DOUBLE_EQ(run.idle(1), 3);
    EXPECT_DOUBLE_EQ(run.makespan, 6);
}

TEST(Engine, IdleTimeIsNeverNegative) {
    TimedRun run;
    run.makespan = 0.3;
    run.busy = {0.1 + 0.2, 0.2}; // more than 0.3 by rounding
    run.communication = {0, 0};
    EXPECT_EQ(run.idle(0), 0);
    EXPECT_DOUBLE_EQ(run.idle(1), 0.3 - 0.2);
}

// Tasks of at least four seconds have a first part of one second and pieces of one second each.
struct InSeconds : Divisions {
    InSeconds(TaskGraph const& of, int workers, int idle = 1) : graph(of), all{0, workers}, needed(idle) {}
    [[nodiscard]] WorkerRange helpers(TaskId task) const override {
        return graph.cost[task] >= 4 ? all : WorkerRange{};
    }
    [[nodiscard]] int least_idle() const override { return needed; }
    [[nodiscard]] std::vector<std::vector<double>> divide(TaskId task) const override {
        return {{1.0}, std::vector<double>(static_cast<std::size_t>(graph.cost[task]) - 1, 1.0)};
    }
    TaskGraph const& graph;
    WorkerRange all;
    int needed;
};

TEST(Engine, IdleWorkersHelpWithADividedTask) {
    // 0 (1) -> 1 (8) -> 2 (2). Seven pieces after a second: three rounds of three workers.
    auto const graph = graph_of({1, 8, 2}, {{1}, {2}, {}});
    std::vector<TaskRange> const ranges(3, TaskRange{{0, 3}, {0, 3}});
    CandidateQueues queues(graph, ranges, 3);
    InSeconds const divisions(graph, 3);
    auto const run = simulate(graph, queues, 3, nullptr, nullptr, &divisions);
    EXPECT_EQ(run.start, (std::vector<double>{0, 1, 5}));
    EXPECT_EQ(run.end, (std::vector<double>{1, 5, 7}));
    EXPECT_DOUBLE_EQ(run.busy[0] + run.busy[1] + run.busy[2], 11);
    EXPECT_EQ(run.helped.size(), 4U);
    for (TimedPiece const& piece : run.helped) EXPECT_GE(piece.start, 2);
    EXPECT_DOUBLE_EQ(run.makespan, 7);
}

TEST(Engine, WorkersThatBecomeIdleHelpAsWell) {
    // 0 (1) -> 1 (9), and 2 (2.5) on another worker. Pieces of 1 start at 2 (two), 2.5, 3 (two), 3.5 and 4
    // (two).
    auto const graph = graph_of({1, 9, 2.5}, {{1}, {}, {}});
    std::vector<TaskRange> const ranges(3, TaskRange{{0, 3}, {0, 3}});
    CandidateQueues queues(graph, ranges, 3);
    InSeconds const divisions(graph, 3);
    auto const run = simulate(graph, queues, 3, nullptr, nullptr, &divisions);
    EXPECT_DOUBLE_EQ(run.makespan, 5);
    std::set<WorkerId> helpers;
    for (TimedPiece const& piece : run.helped) helpers.insert(piece.worker);
    EXPECT_EQ(helpers.size(), 2U);
}

TEST(Engine, StagesOfADividedTaskFollowEachOther) {
    // 0 (1) -> 1 (9) -> 2 (1). Three workers: 2 | 1, 1, 1, 2 | 2, in 2 + 2 + 2 seconds with three pieces of
    // helpers, of which the one that takes two pieces of a second may be the worker of the task.
    auto const graph = graph_of({1, 9, 1}, {{1}, {2}, {}});
    std::vector<TaskRange> const ranges(3, TaskRange{{0, 3}, {0, 3}});
    CandidateQueues queues(graph, ranges, 3);
    struct : Divisions {
        [[nodiscard]] WorkerRange helpers(TaskId task) const override {
            return task == 1 ? WorkerRange{0, 3} : WorkerRange{};
        }
        [[nodiscard]] int least_idle() const override { return 2; }
        [[nodiscard]] std::vector<std::vector<double>> divide(TaskId) const override {
            return {{2}, {1, 0, 2, 1, 1}, {0}, {2}};
        }
    } const divisions;
    auto const run = simulate(graph, queues, 3, nullptr, nullptr, &divisions);
    EXPECT_EQ(run.start, (std::vector<double>{0, 1, 7}));
    EXPECT_EQ(run.end, (std::vector<double>{1, 7, 8}));
    EXPECT_EQ(run.worker_of_task[1], run.worker_of_task[0]);
    EXPECT_DOUBLE_EQ(run.busy[0] + run.busy[1] + run.busy[2], 11);
    for (TimedPiece const& piece : run.helped) {
        EXPECT_GE(piece.start, 3);
        EXPECT_LE(piece.end, 5);
    }
}

TEST(Engine, ALoadedMachineDividesNothing) {
    // Three workers begin with 0 (1) -> 3 (8), 1 and 2 (8). None is idle when 3 begins, and one is when 4 (4)
    // begins.
    auto const graph = graph_of({1, 8, 8, 8, 4}, {{3}, {4}, {}, {}, {}});
    std::vector<TaskRange> const ranges(5, TaskRange{{0, 3}, {0, 3}});
    for (int const needed : {1, 2}) {
        CandidateQueues queues(graph, ranges, 3);
        InSeconds const divisions(graph, 3, needed);
        auto const run = simulate(graph, queues, 3, nullptr, nullptr, &divisions);
        EXPECT_EQ(run.end, (std::vector<double>{1, 8, 8, 9, needed == 1 ? 10.0 : 12.0}));
    }
}

TEST(Engine, MessagesOccupyNoWorker) {
    // 0 (1) -> message 1 (5) -> 2 (1), and 3 (2) on the only worker meanwhile.
    auto const graph = graph_of({1, 5, 1, 2}, {{1}, {2}, {}, {}});
    std::vector<TaskRange> const ranges(4);
    CandidateQueues queues(graph, ranges, 1);
    struct : Transit {
        [[nodiscard]] bool carries(TaskId task) const override { return task == 1; }
        double reach(TaskId, double now) override { return now + 2; }
        double arrive(TaskId, double now) override { return now + 3; }
    } network;
    auto const run = simulate(graph, queues, 1, &network);
    EXPECT_EQ(run.start, (std::vector<double>{0, 1, 6, 1}));
    EXPECT_EQ(run.worker_of_task, (std::vector<WorkerId>{0, any_worker, 0, 0}));
    EXPECT_EQ(run.lists[0], (std::vector<TaskId>{0, 3, 2}));
    EXPECT_DOUBLE_EQ(run.busy[0], 4);
    EXPECT_DOUBLE_EQ(run.makespan, 7);
}

TEST(Engine, PrefersCandidatesAndReachesFartherForUrgentTasks) {
    // Tasks 0 and 1 belong to worker 0. Worker 1, which is near enough, takes one instead of being idle. Then
    // worker 0 is free first: 2 is its own, but 3, of worker 1, has a path to the end that is twice as long,
    // and runs first.
    auto const graph = graph_of({4, 5, 2, 2, 2}, {{2, 3}, {}, {}, {4}, {}});
    Candidates const mine{0, 1}, yours{1, 2}, both{0, 2};
    std::vector<TaskRange> const ranges{
        {mine, both}, {mine, both}, {mine, both}, {yours, both}, {yours, both}};
    CandidateQueues queues(graph, ranges, 2);
    auto const run = simulate(graph, queues, 2);
    EXPECT_EQ(run.worker_of_task[0], 0); // priority 4 + 4 is before 5
    EXPECT_EQ(run.worker_of_task[1], 1);
    EXPECT_DOUBLE_EQ(run.start[3], 4);
    EXPECT_EQ(run.worker_of_task[3], 0);
    EXPECT_DOUBLE_EQ(run.start[2], 5);
    EXPECT_EQ(run.worker_of_task[2], 1);
}

TEST(Engine, NamesATaskThatNeverRan) {
    auto graph = graph_of({1, 1}, {{1}, {}});
    graph.num_predecessors[1] = 2;
    std::vector<TaskRange> const ranges(2);
    CandidateQueues queues(graph, ranges, 1);
    EXPECT_TRUE(throws_error(Status::internal, "task 1 ", [&] { simulate(graph, queues, 1); }));
}

// Random graphs and ranges: each task runs on an allowed worker, no worker is idle while a task is ready for
// it, and the StaticPolicy of the runtime runs the same tasks at the same times from the lists.
TEST(Engine, RunsWhatIsAllowedWithoutIdlingAndReplaysAsAStaticPolicy) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 engine(seed);
        std::size_t const n = 1 + engine() % 120;
        int const workers = 1 + static_cast<int>(engine() % 7);
        auto const graph = random_graph(static_cast<TaskId>(n), engine);
        std::vector<TaskRange> ranges;
        for (std::size_t t = 0; t < n; ++t) {
            auto const between = [&](int least, int most) {
                return least + static_cast<int>(engine() % static_cast<unsigned>(most - least + 1));
            };
            Candidates const reach{between(0, workers - 1), workers};
            ranges.push_back({{between(reach.first, workers - 1), workers}, reach});
        }
        CandidateQueues queues(graph, ranges, workers);
        auto const run = simulate(graph, queues, workers);

        std::vector<double> ready(n, 0.0);
        for (std::size_t t = 0; t < n; ++t)
            for (TaskId const s : graph.successors_of(static_cast<TaskId>(t)))
                ready[s] = std::max(ready[s], run.end[t]);
        for (std::size_t t = 0; t < n; ++t) {
            ASSERT_TRUE(ranges[t].reach.contains(run.worker_of_task[t]));
            ASSERT_GE(run.start[t], ready[t]);
            for (int w = ranges[t].reach.first; w < ranges[t].reach.end; ++w) {
                // Between ready and start its workers are busy without a gap.
                double at = ready[t];
                for (TaskId const other : run.lists[w]) {
                    auto const o = static_cast<std::size_t>(other);
                    if (run.start[o] <= at) at = std::max(at, run.end[o]);
                }
                ASSERT_GE(at, run.start[t]) << "seed " << seed << " task " << t << " worker " << w;
            }
        }
        for (auto const& list : run.lists)
            for (std::size_t i = 1; i < list.size(); ++i) ASSERT_GE(run.start[list[i]], run.end[list[i - 1]]);

        StaticPolicy policy(run.lists, graph.num_tasks());
        auto const replay = simulate(graph, policy, workers);
        ASSERT_EQ(replay.lists, run.lists);
        ASSERT_EQ(replay.start, run.start);
        ASSERT_DOUBLE_EQ(replay.makespan, run.makespan);
    }
}

// Twice as long for odd workers, and once more for each other task that runs.
class OddClock : public TaskClock {
  public:
    explicit OddClock(TaskGraph const& graph) : graph_(graph) {}
    double begin(TaskId task, WorkerId worker, double) override {
        return graph_.cost[task] * (1 + worker % 2 + running_++);
    }
    void end(TaskId, WorkerId) override { --running_; }

  private:
    TaskGraph const& graph_;
    int running_ = 0;
};

TEST(Engine, TakesTimesFromItsClock) {
    // 0 and 1 begin together: 1 x 1 and 1 x (2 + 1). Then 2 after 0, while 1 runs: 1 x (1 + 1).
    auto const graph = graph_of({1, 1, 1}, {{2}, {}, {}});
    std::vector<TaskRange> const ranges{{{0, 1}, {0, 1}}, {{1, 2}, {1, 2}}, {{0, 1}, {0, 1}}};
    CandidateQueues queues(graph, ranges, 2);
    OddClock clock(graph);
    auto const run = simulate(graph, queues, 2, nullptr, &clock);
    EXPECT_EQ(run.end, (std::vector<double>{1, 3, 3}));
    EXPECT_EQ(run.busy, (std::vector<double>{3, 3}));
}

} // namespace
} // namespace espalier
