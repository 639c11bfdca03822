#include "coarsen/operators.hpp"

#include <gtest/gtest.h>

#include <random>

#include "coarsen/grids.hpp"

namespace espalier {
namespace {

TEST(AggregateChains, MergesOnlyTasksWithOneEdgeBetweenThem) {
    // 0 - 1 - 2 < (3 - 4, 5) > 6 - 7
    auto const graph = graph_of(8, {{0, 1}, {1, 2}, {2, 3}, {2, 5}, {3, 4}, {4, 6}, {5, 6}, {6, 7}});
    EXPECT_EQ(aggregate_chains(graph), (Aggregation{0, 0, 0, 1, 1, 2, 3, 3}));
}

TEST(AggregateChains, FollowsAChainWhoseNumbersAreNotConsecutive) {
    auto const graph = graph_of(5, {{0, 2}, {2, 4}, {1, 3}});
    EXPECT_EQ(aggregate_chains(graph), (Aggregation{0, 1, 0, 1, 0}));
}

TEST(AggregateFronts, DividesEachDiagonalOfAGrid) {
    // Depths of the 3 x 3 grid: 0 | 1 3 | 2 4 6 | 5 7 | 8
    EXPECT_EQ(aggregate_fronts(grid_tasks(3, 3), 1), (Aggregation{0, 1, 2, 1, 2, 3, 2, 3, 4}));
    EXPECT_EQ(aggregate_fronts(grid_tasks(3, 3), 2), (Aggregation{0, 1, 3, 2, 4, 5, 4, 6, 7}));
}

TEST(AggregateFronts, BalancesCosts) {
    auto graph = graph_of(5, {});
    graph.cost = {3, 1, 1, 1, 6};
    EXPECT_EQ(aggregate_fronts(graph, 2), (Aggregation{0, 0, 0, 0, 1}));
    graph.cost.assign(5, 0.0);
    EXPECT_EQ(aggregate_fronts(graph, 2), (Aggregation{0, 0, 0, 1, 1}));
}

TEST(AggregateDescendants, TakesAMasterAndItsNearestDescendants) {
    // A binary tree from its root: 0 > (1, 2), 1 > (3, 4), 2 > (5, 6).
    auto const tree = graph_of(7, {{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}});
    EXPECT_EQ(aggregate_descendants(tree, 2), (Aggregation{0, 0, 0, 1, 2, 3, 4}));
    EXPECT_EQ(aggregate_descendants(tree, 4), (Aggregation{0, 0, 0, 0, 0, 1, 2}));
    EXPECT_EQ(aggregate_descendants(tree, 9), (Aggregation{0, 0, 0, 0, 0, 0, 0}));
}

TEST(AggregateDescendants, PrefersTasksWithMorePredecessorsInside) {
    // Level 1: 1 and 2; level 2: 3 (from 1), 4 (from 1), 5 (from 1 and 2). 5 goes first.
    auto const graph = graph_of(6, {{0, 1}, {0, 2}, {1, 3}, {1, 4}, {1, 5}, {2, 5}});
    EXPECT_EQ(aggregate_descendants(graph, 3), (Aggregation{0, 0, 0, 1, 2, 0}));
}

TEST(AggregateDescendants, LeavesTasksThatWaitForOthers) {
    // 2 depends on 0 and on 1, which becomes a master later.
    auto const graph = graph_of(4, {{0, 2}, {1, 2}, {2, 3}});
    EXPECT_EQ(aggregate_descendants(graph, 5), (Aggregation{0, 1, 1, 1}));
}

TEST(AggregateContinuations, MakesLinesOfAGrid) {
    EXPECT_EQ(aggregate_continuations(grid_tasks(4, 2), 100), (Aggregation{0, 0, 0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(aggregate_continuations(grid_tasks(5, 2), 2), (Aggregation{0, 0, 1, 1, 2, 3, 3, 4, 4, 5}));
    // 1 does not depend on 0.
    EXPECT_EQ(aggregate_continuations(graph_of(3, {{0, 2}, {1, 2}}), 3), (Aggregation{0, 1, 1}));
}

TEST(AggregateBlocks, TakesConsecutiveTasks) {
    EXPECT_EQ(aggregate_blocks(grid_tasks(5, 1), 2), (Aggregation{0, 0, 1, 1, 2}));
    auto const independent = graph_of(4, {});
    EXPECT_EQ(aggregate_blocks(independent, 3), (Aggregation{0, 0, 0, 1}));
}

// Two leaves (0, 1, 2) and (3, 4), their separators 5 and 6, and a third leaf (7, 8).
TaskGraph dissected() {
    return graph_of(9, {{0, 2}, {1, 2}, {0, 5}, {2, 5}, {3, 4}, {3, 5}, {4, 6}, {5, 6}, {7, 8}});
}

TEST(AggregateTrees, TakesSubdomainsBelowTheirSeparators) {
    EXPECT_EQ(aggregate_trees(dissected(), 1), (Aggregation{0, 0, 0, 0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(aggregate_trees(dissected(), 2), (Aggregation{0, 0, 0, 1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(aggregate_trees(dissected(), 3), (Aggregation{0, 0, 0, 1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(aggregate_trees(dissected(), 6), (Aggregation{0, 0, 0, 0, 0, 0, 1, 2, 2}));
    EXPECT_EQ(aggregate_trees(dissected(), 9), (Aggregation{0, 0, 0, 0, 0, 0, 0, 1, 1}));
}

TEST(AggregateTrees, AreSmallIfTheyDependOnOthers) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        auto const graph = graph_of(80, random_edges(80, 1, seed));
        auto const trees = quotient_graph(graph, aggregate_trees(graph, 30));
        for (TaskId tree = 0; tree < trees.graph.num_tasks(); ++tree) {
            auto const parts = trees.parts_of(tree);
            EXPECT_EQ(parts.back() - parts.front() + 1, std::ssize(parts));
            EXPECT_LE(parts.size(), trees.graph.num_predecessors[tree] == 0 ? 30u : 8u);
        }
    }
}

TEST(Operators, RefuseCountsBelowOne) {
    auto const graph = grid_tasks(2, 2);
    EXPECT_THROW((void)aggregate_fronts(graph, 0), Error);
    EXPECT_THROW((void)aggregate_descendants(graph, 0), Error);
    EXPECT_THROW((void)aggregate_continuations(graph, 0), Error);
    EXPECT_THROW((void)aggregate_blocks(graph, 0), Error);
    EXPECT_THROW((void)aggregate_trees(graph, 0), Error);
}

/// Random graphs, with and without costs.
std::vector<TaskGraph> random_graphs() {
    std::vector<TaskGraph> graphs{graph_of(0, {}), graph_of(1, {}), grid_tasks(7, 5, 3)};
    std::mt19937 random(7);
    for (unsigned seed = 0; seed < 12; ++seed) {
        TaskId const n = 1 + static_cast<TaskId>(random() % 200);
        auto graph = graph_of(n, random_edges(n, 1 + static_cast<int>(seed % 3), seed));
        if (seed % 2 == 1)
            for (TaskId t = 0; t < n; ++t) graph.cost.push_back(static_cast<double>(random() % 100));
        graphs.push_back(std::move(graph));
    }
    return graphs;
}

TEST(Operators, KeepTheirBoundsOnRandomGraphs) {
    for (auto const& graph : random_graphs())
        for (Index const bound : {1, 2, 7, 1000}) {
            auto const chains = quotient_graph(graph, aggregate_chains(graph));
            expect_coarse(graph, chains);
            for (TaskId a = 0; a < chains.graph.num_tasks(); ++a)
                for (std::size_t k = 1; k < chains.parts_of(a).size(); ++k)
                    EXPECT_EQ(graph.successors_of(chains.parts_of(a)[k - 1]).size(), 1u);

            auto const descendants = quotient_graph(graph, aggregate_descendants(graph, bound));
            expect_coarse(graph, descendants);
            for (TaskId a = 0; a < descendants.graph.num_tasks(); ++a)
                EXPECT_LE(std::ssize(descendants.parts_of(a)), bound + 1);

            expect_coarse(graph, quotient_graph(graph, aggregate_blocks(graph, bound)));
            expect_coarse(graph, quotient_graph(graph, aggregate_trees(graph, bound)));
            auto const lines = quotient_graph(graph, aggregate_continuations(graph, bound));
            expect_coarse(graph, lines);
            for (TaskId a = 0; a < lines.graph.num_tasks(); ++a) {
                auto const parts = lines.parts_of(a);
                EXPECT_LE(std::ssize(parts), bound);
                EXPECT_EQ(parts.back() - parts.front() + 1, std::ssize(parts));
            }
        }
}

TEST(Operators, FrontsDivideEachDepthEvenly) {
    for (auto const& graph : random_graphs())
        for (Index const bound : {1, 2, 7, 1000}) {
            auto const fronts = quotient_graph(graph, aggregate_fronts(graph, bound));
            expect_coarse(graph, fronts);
            auto const depths = depth_order(graph);
            for (TaskId d = 0; d < depths.num_depths(); ++d) {
                std::set<TaskId> aggregates;
                double total = 0, largest = 0;
                for (TaskId k = depths.depth_ptr[d]; k < depths.depth_ptr[d + 1]; ++k) {
                    TaskId const task = depths.order[k];
                    aggregates.insert(fronts.aggregate_of[task]);
                    total += cost_of(graph, task);
                    largest = std::max(largest, cost_of(graph, task));
                }
                EXPECT_LE(std::ssize(aggregates), bound);
                for (TaskId const a : aggregates)
                    EXPECT_LE(fronts.graph.cost[a], total / static_cast<double>(bound) + largest + 1e-9);
            }
        }
}

} // namespace
} // namespace espalier
