#include "coarsen/super_steps.hpp"

#include <gtest/gtest.h>

#include "coarsen/grids.hpp"
#include "coarsen/operators.hpp"

namespace espalier {
namespace {

/// Two binary trees of `leaves` leaves each that end in one task.
TaskGraph two_trees(TaskId leaves) {
    std::vector<Edge> edges;
    TaskId const tree = 2 * leaves - 1;
    for (TaskId first : {0, tree})
        for (TaskId k = 0; k + 1 < tree; ++k) edges.emplace_back(first + k, first + leaves + k / 2);
    edges.emplace_back(tree - 1, 2 * tree);
    edges.emplace_back(2 * tree - 1, 2 * tree);
    return graph_of(2 * tree + 1, edges);
}

TEST(Hdagg, SeparatesIndependentTrees) {
    auto const graph = two_trees(64);
    auto const coarse = quotient_graph(graph, aggregate_hdagg(graph, 2));
    expect_coarse(graph, coarse);
    // The trees run at the same time in the first step. Only the last tasks are left for later steps.
    EXPECT_LE(coarse.graph.num_tasks(), 2 * 3 + 1);
    EXPECT_NEAR(coarse.graph.cost[0], 127, 20);
    EXPECT_NEAR(coarse.graph.cost[1], 127, 20);
}

TEST(Hdagg, LeavesOutEdgesThatPathsImply) {
    // 0 > 1 > 2 and 0 > 2 is a chain, hence a tree, without the edge (0, 2). 3 and 4 are another tree.
    auto const graph = graph_of(30, {{0, 1}, {1, 2}, {0, 2}});
    auto const aggregation = aggregate_hdagg(graph, 1);
    EXPECT_EQ(aggregation, Aggregation(30, 0));
}

TEST(GrowLocal, GivesEachCoreAPartOfAStep) {
    auto const graph = graph_of(100, {}); // independent tasks: one step
    auto const coarse = quotient_graph(graph, aggregate_grow_local(graph, 4));
    expect_coarse(graph, coarse);
    EXPECT_EQ(coarse.graph.num_tasks(), 4);
    for (double const cost : coarse.graph.cost) EXPECT_LE(cost, 40);
}

TEST(GrowLocal, TakesNoMoreMemoryForCoresThatHaveNothingToDo) {
    auto const graph = graph_of(200'000, {});
    auto const coarse = quotient_graph(graph, aggregate_grow_local(graph, 1'000'000));
    EXPECT_GT(coarse.graph.num_tasks(), 1000);
    auto const chain = graph_of(200'000, chain_edges(200'000)); // each step has work for one core
    EXPECT_LT(quotient_graph(chain, aggregate_grow_local(chain, 1'000'000)).graph.num_tasks(), 100);
}

TEST(GrowLocal, RunsAChainInOneStep) {
    auto const graph = graph_of(50, chain_edges(50));
    EXPECT_EQ(aggregate_grow_local(graph, 3), Aggregation(50, 0));
}

TEST(SuperSteps, AreCoarseGraphsOfAtMostOneTaskPerCoreInEachStep) {
    for (unsigned seed = 0; seed < 8; ++seed) {
        auto const graph = seed == 0 ? grid_tasks(12, 9, 4) : graph_of(300, random_edges(300, 2, seed));
        for (Index const cores : {1, 2, 5})
            for (auto const& aggregation :
                 {aggregate_hdagg(graph, cores), aggregate_grow_local(graph, cores)}) {
                auto const coarse = quotient_graph(graph, aggregation);
                expect_coarse(graph, coarse);
                // Tasks of a step are independent, so no depth has more tasks than all steps allow.
                auto const depths = depth_order(coarse.graph);
                EXPECT_LE(coarse.graph.num_tasks(), depths.num_depths() * cores * 2);
                if (cores == 1) {
                    EXPECT_EQ(coarse.graph.num_tasks(), depths.num_depths());
                }
            }
    }
}

TEST(SuperSteps, RefuseCountsOfCoresBelowOne) {
    EXPECT_THROW((void)aggregate_hdagg(grid_tasks(2, 2), 0), Error);
    EXPECT_THROW((void)aggregate_grow_local(grid_tasks(2, 2), 0), Error);
}

} // namespace
} // namespace espalier
