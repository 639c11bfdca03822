#include "coarsen/pipeline.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "coarsen/coarse_string.hpp"
#include "coarsen/grids.hpp"
#include "core/status_of.hpp"

namespace espalier {
namespace {

TEST(Pipeline, DividesThePlanesOfAGrid) {
    auto const grid = grid_tasks(3, 4, 5);
    auto const coarse = coarsen(grid, "W(2)");
    expect_coarse(grid, coarse);
    for (TaskId task = 0; task < grid.num_tasks(); ++task)
        EXPECT_EQ(coarse.aggregate_of[task], 2 * (task / 12) + (task % 12 < 6 ? 0 : 1));
    // The first part of a plane precedes the second one, and both precede their parts of the next plane.
    for (TaskId aggregate = 0; aggregate < 8; ++aggregate) {
        std::set<TaskId> next{aggregate + 2};
        if (aggregate % 2 == 0) next.insert(aggregate + 1);
        auto const found = coarse.graph.successors_of(aggregate);
        EXPECT_EQ(std::set<TaskId>(found.begin(), found.end()), next);
    }
}

TEST(Pipeline, UnitesShortPeriods) {
    auto const grid = grid_tasks(4, 100); // 100 periods of 4 tasks; a twentieth are 5 periods
    auto const aggregate_of = aggregate_pipeline(grid, 2);
    for (TaskId task = 0; task < grid.num_tasks(); ++task)
        EXPECT_EQ(aggregate_of[task], 2 * (task / 20) + (task % 4 < 2 ? 0 : 1));
    // With three cores, the last one starts after twice as many bands.
    EXPECT_EQ(coarsen(grid, "W(3)").graph.num_tasks(), 3 * 50);
}

// The last task of each line precedes the first one of the next line.
TEST(Pipeline, PutsTasksIntoThePartOfTheirPredecessor) {
    std::vector<Edge> edges;
    for (TaskId task = 0; task < 400; ++task)
        for (TaskId const next : {task + 1, task + 4})
            if (next < 400) edges.emplace_back(task, next);
    auto const graph = graph_of(400, edges);
    auto const coarse = coarsen(graph, "W(2)"); // bands of 5 lines of 4 tasks
    expect_coarse(graph, coarse);
    for (TaskId task = 0; task < 400; ++task)
        EXPECT_EQ(coarse.aggregate_of[task], 2 * (task / 20) + (task % 20 < 2 ? 0 : 1));
}

TEST(Pipeline, BoundsArePartsOfPeriods) {
    std::vector<Reach> const sample{{10, 1}};
    EXPECT_EQ(Pipeline(25, sample, 3).bounds(), (std::vector<TaskId>{0, 4, 7, 10, 14, 17, 20, 24, 25}));
    EXPECT_EQ(Pipeline(3, std::vector<Reach>{{1, 0}}, 5).bounds(), (std::vector<TaskId>{0, 1, 2, 3}));
    EXPECT_EQ(Pipeline(0, {}, 2).bounds(), std::vector<TaskId>{0});
}

TEST(Pipeline, IsRegularIfMostTasksReachTheNextPeriodOnce) {
    auto const is_regular = [](std::vector<Reach> const& sample, Index cores) {
        return Pipeline(1000, sample, cores).is_regular();
    };
    EXPECT_TRUE(is_regular({{100, 10}, {100, 10}, {100, 1}, {10, 1}}, 2));
    EXPECT_TRUE(is_regular({{100, 50}}, 100));
    EXPECT_FALSE(is_regular({{100, 50}}, 101)); // a part would be empty
    EXPECT_FALSE(is_regular({{100, 10}, {90, 10}, {80, 1}}, 2));
    EXPECT_FALSE(is_regular({{100, 99}, {100, 99}, {100, 10}}, 2)); // neighbors across an edge
    EXPECT_FALSE(is_regular({}, 2));
}

TEST(Pipeline, MakesCoarseGraphsOfOtherGraphs) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        auto const graph = graph_of(250, random_edges(250, 2, seed));
        for (char const* text : {"W(1)", "W(2)", "W(7)", "W(1000)", "W(2147483647)", "SW(3)", "W(3)D(2)"})
            expect_coarse(graph, coarsen(graph, text));
    }
    for (auto const& edges : {std::vector<Edge>{}, std::vector<Edge>{{0, 1}, {1, 2}}}) {
        auto const graph = graph_of(3, edges);
        expect_coarse(graph, coarsen(graph, "W(2)"));
    }
    EXPECT_EQ(aggregate_pipeline(TaskGraph(), 2), Aggregation());
}

TEST(Pipeline, NeedsCores) {
    EXPECT_EQ(status_of([] { (void)aggregate_pipeline(grid_tasks(3, 3), 0); }), Status::usage);
    EXPECT_EQ(status_of([] { (void)coarsen(grid_tasks(3, 3), "W"); }), Status::usage);
}

} // namespace
} // namespace espalier
