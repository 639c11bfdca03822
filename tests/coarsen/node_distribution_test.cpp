#include "coarsen/node_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "coarsen/operators.hpp"
#include "core/status_of.hpp"
#include "grids.hpp"

namespace espalier {
namespace {

// A 4 x 4 grid: task x + 4 y follows its left and its lower neighbor. Its depths are the diagonals.
//
//     12 13 14 15        depth 0: 0 | 1: 1 4 | 2: 2 5 8 | 3: 3 6 9 12 | 4: 7 10 13 | 5: 11 14 | 6: 15
//      8  9 10 11
//      4  5  6  7        F(2) divides a depth of three tasks of equal cost after the first or the second.
//      0  1  2  3
TEST(NodeDistribution, DividesEachDepthOfAGrid) {
    TaskGraph graph;
    std::vector<TaskEdge> edges;
    for (TaskId y = 0; y < 4; ++y)
        for (TaskId x = 0; x < 4; ++x) {
            if (x < 3) edges.push_back({x + 4 * y, x + 1 + 4 * y});
            if (y < 3) edges.push_back({x + 4 * y, x + 4 * (y + 1)});
        }
    connect_tasks(graph, 16, edges);
    auto const node_of = distribute_over_nodes(graph, 2);
    EXPECT_EQ(node_of[0], 0);
    EXPECT_EQ(node_of[15], std::count(node_of.begin(), node_of.end() - 1, 0) > 7 ? 1 : 0);
    EXPECT_EQ(node_of[1], 0);
    EXPECT_EQ(node_of[4], 1);
    EXPECT_EQ(node_of[3], 0);
    EXPECT_EQ(node_of[6], 0);
    EXPECT_EQ(node_of[9], 1);
    EXPECT_EQ(node_of[12], 1);
    EXPECT_EQ(node_of[2], 0);
    EXPECT_EQ(node_of[8], 1);
    EXPECT_EQ(distribute_over_nodes(graph, 1), std::vector<std::int32_t>(16, 0));
    EXPECT_EQ(status_of([&] { std::ignore = distribute_over_nodes(graph, 0); }), Status::usage);
}

TEST(NodeDistribution, GivesEachNodeAFairShareOfEachWideDepth) {
    auto const graph = grid_tasks(20, 20, 20);
    auto const depths = depth_order(graph);
    for (int const nodes : {2, 3, 8}) {
        auto const node_of = distribute_over_nodes(graph, nodes);
        for (TaskId d = 0; d < depths.num_depths(); ++d) {
            std::vector<double> cost(nodes, 0.0);
            double total = 0, largest = 0;
            for (TaskId k = depths.depth_ptr[d]; k < depths.depth_ptr[d + 1]; ++k) {
                TaskId const task = depths.order[k];
                ASSERT_GE(node_of[task], 0);
                ASSERT_LT(node_of[task], nodes);
                cost[node_of[task]] += cost_of(graph, task);
                total += cost_of(graph, task);
                largest = std::max(largest, cost_of(graph, task));
            }
            if (depths.depth_ptr[d + 1] - depths.depth_ptr[d] < 4 * nodes) continue;
            for (double const share : cost)
                EXPECT_LE(std::abs(share - total / nodes), largest + 1e-9) << nodes;
        }
    }
}

} // namespace
} // namespace espalier
