#include "simulation/candidate_queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "simulation/graphs.hpp"

namespace espalier {
namespace {

TEST(ListSchedule, WorksASmallExampleByHand) {
    // 0 (3) -> 2 (2) -> 4 (1)     Priorities 6 3 3 2 1 .. with 1 (1) -> 3 (2).
    // 1 (1) -> 3 (2)
    auto graph = graph_of({3, 1, 2, 2, 1}, {{2}, {3}, {4}, {}, {}});
    graph.home = {0, 1, 0, 1, 0};
    auto const schedule = list_schedule(graph, 2);
    EXPECT_DOUBLE_EQ(schedule.makespan, 6);
    EXPECT_EQ(schedule.lists[0], (std::vector<TaskId>{0, 2, 4}));
    EXPECT_EQ(schedule.lists[1], (std::vector<TaskId>{1, 3}));
}

TEST(ListSchedule, RunsTasksOnTheirHomesByPriority) {
    auto graph = graph_of({1, 1, 1}, {{}, {}, {}});
    graph.home = {1, 1, 0};
    auto const schedule = list_schedule(graph, 2);
    EXPECT_EQ(schedule.lists[0], (std::vector<TaskId>{2}));
    EXPECT_EQ(schedule.lists[1], (std::vector<TaskId>{0, 1}));
    EXPECT_DOUBLE_EQ(schedule.makespan, 2);
}

TEST(ListSchedule, RefusesHomesThatAreNoWorkers) {
    auto graph = graph_of({1, 1, 1}, {{}, {}, {}});
    for (WorkerId const home : {any_worker, 2}) {
        graph.home = {1, home, 0};
        try {
            list_schedule(graph, 2);
            FAIL() << "was accepted";
        } catch (Error const& error) {
            EXPECT_EQ(error.status(), Status::internal);
            EXPECT_NE(std::string(error.what()).find("the home of task 1 is worker"), std::string::npos);
        }
    }
    graph.home = {1};
    EXPECT_THROW(list_schedule(graph, 2), Error);
}

// Replays the lists in order: every task must be reached with its predecessors done.
TEST(ListSchedule, ListsRunToTheEndOnRandomGraphs) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::mt19937 engine(seed);
        std::size_t const n = 1 + engine() % 120;
        std::vector<double> cost(n);
        std::vector<std::vector<TaskId>> successors(n);
        for (std::size_t t = 0; t < n; ++t) {
            cost[t] = static_cast<double>(engine() % 10);
            for (std::size_t s = t + 1; s < n; ++s)
                if (engine() % 10 == 0) successors[t].push_back(static_cast<TaskId>(s));
        }
        auto graph = graph_of(cost, successors);
        int const workers = 1 + static_cast<int>(engine() % 4);
        for (WorkerId& home : graph.home)
            home = static_cast<WorkerId>(engine() % static_cast<unsigned>(workers));
        auto const schedule = list_schedule(graph, workers);
        EXPECT_EQ(schedule.worker_of_task, graph.home);
        std::vector<TaskRange> const anywhere(n, {{0, workers}, {0, workers}});
        CandidateQueues queues(graph, anywhere, workers);
        double const shortest = simulate(graph, queues, workers).makespan;
        std::vector<std::int32_t> waiting = graph.num_predecessors;
        std::vector<std::size_t> position(workers, 0);
        std::size_t done = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t w = 0; w < position.size(); ++w) {
                if (position[w] == schedule.lists[w].size()) continue;
                auto const t = static_cast<std::size_t>(schedule.lists[w][position[w]]);
                if (waiting[t] > 0) continue;
                for (TaskId s : successors[t]) --waiting[s];
                EXPECT_EQ(schedule.worker_of_task[t], static_cast<WorkerId>(w));
                ++position[w], ++done;
                moved = true;
            }
        }
        EXPECT_EQ(done, n);
        double total = 0, longest = 0;
        for (double const c : cost) total += c;
        for (double const p : graph.priority) longest = std::max(longest, p);
        EXPECT_GE(schedule.makespan, std::max(longest, total / workers) - 1e-9);
        EXPECT_GE(shortest, std::max(longest, total / workers) - 1e-9);
        EXPECT_LE(shortest, longest + total / workers + 1e-9); // Graham's bound, for tasks without homes
    }
}

} // namespace
} // namespace espalier
