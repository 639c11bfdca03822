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
    auto graph = independent_tasks(3);
    graph.home = {1, 1, 0};
    auto const schedule = list_schedule(graph, 2);
    EXPECT_EQ(schedule.lists[0], (std::vector<TaskId>{2}));
    EXPECT_EQ(schedule.lists[1], (std::vector<TaskId>{0, 1}));
    EXPECT_DOUBLE_EQ(schedule.makespan, 2);
}

TEST(ListSchedule, RefusesHomesThatAreNoWorkers) {
    auto graph = independent_tasks(3);
    for (WorkerId const home : {any_worker, 2}) {
        graph.home = {1, home, 0};
        EXPECT_TRUE(
            throws_error(Status::internal, "the home of task 1 is worker", [&] { list_schedule(graph, 2); }));
    }
    graph.home = {1};
    EXPECT_THROW(list_schedule(graph, 2), Error);
}

// Replays the lists in order: every task must be reached with its predecessors done.
TEST(ListSchedule, ListsRunToTheEndOnRandomGraphs) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::mt19937 engine(seed);
        std::size_t const n = 1 + engine() % 120;
        auto graph = random_graph(static_cast<TaskId>(n), engine);
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
                for (TaskId s : graph.successors_of(static_cast<TaskId>(t))) --waiting[s];
                EXPECT_EQ(schedule.worker_of_task[t], static_cast<WorkerId>(w));
                ++position[w], ++done;
                moved = true;
            }
        }
        EXPECT_EQ(done, n);
        double const total = sum(graph.cost), longest = *std::ranges::max_element(graph.priority);
        EXPECT_GE(schedule.makespan, std::max(longest, total / workers) - 1e-9);
        EXPECT_GE(shortest, std::max(longest, total / workers) - 1e-9);
        EXPECT_LE(shortest, longest + total / workers + 1e-9); // Graham's bound, for tasks without homes
    }
}

} // namespace
} // namespace espalier
