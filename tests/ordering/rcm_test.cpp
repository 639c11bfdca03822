#include "ordering/rcm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/graphs.hpp"

namespace espalier {
namespace {

/// The largest distance between the numbers of neighbors.
Index bandwidth(Graph const& graph, Ordering const& ordering) {
    Index widest = 0;
    for (Index v = 0; v < graph.num_vertices; ++v)
        for (Index const w : graph.neighbors(v))
            widest = std::max(widest, std::abs(ordering.perm[v] - ordering.perm[w]));
    return widest;
}

void expect_permutation(Graph const& graph, Ordering const& ordering) {
    ASSERT_EQ(std::ssize(ordering.perm), graph.num_vertices);
    ASSERT_EQ(std::ssize(ordering.inverse), graph.num_vertices);
    for (Index k = 0; k < graph.num_vertices; ++k) ASSERT_EQ(ordering.perm[ordering.inverse[k]], k);
}

/// The graph with its vertices renamed at random.
Graph shuffled(Graph const& graph, unsigned seed) {
    std::vector<Index> name(graph.num_vertices);
    std::iota(name.begin(), name.end(), Index(0));
    std::shuffle(name.begin(), name.end(), std::mt19937(seed));
    test::Edges edges;
    for (Index v = 0; v < graph.num_vertices; ++v)
        for (Index const w : graph.neighbors(v)) edges.emplace_back(name[v], name[w]);
    return test::graph_from(graph.num_vertices, edges);
}

TEST(Rcm, NumbersAPathFromEndToEnd) {
    auto const graph = shuffled(test::path(50), 1);
    auto const ordering = order_by_rcm(graph);
    expect_permutation(graph, ordering);
    EXPECT_EQ(bandwidth(graph, ordering), 1);
}

TEST(Rcm, NumbersAGridByItsDiagonals) {
    for (unsigned seed = 0; seed < 5; ++seed) {
        auto const graph = shuffled(test::grid(40, 12), seed);
        auto const ordering = order_by_rcm(graph);
        expect_permutation(graph, ordering);
        EXPECT_LE(bandwidth(graph, ordering), 13); // the longest diagonal has 12 vertices
    }
}

TEST(Rcm, NumbersANeighborhoodByAscendingDegree) {
    // 0 - 1, and 1 - (2, 3, 4) where 2 has two leaves and 3 has one. The vertex 5 is
    // farthest from 0, and 7 from 5. From 7 on, the neighbors of 1 come by degree: 0, 4, 2.
    auto const graph =
        test::graph_from(8, test::Edges{{0, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}, {3, 7}});
    auto ordering = order_by_rcm(graph);
    expect_permutation(graph, ordering);
    std::reverse(ordering.inverse.begin(), ordering.inverse.end());
    EXPECT_EQ(ordering.inverse, (std::vector<Index>{7, 3, 1, 0, 4, 2, 5, 6}));
}

TEST(Rcm, KeepsComponentsTogether) {
    test::Edges edges;
    for (Index v = 0; v + 3 < 30; ++v) edges.emplace_back(v, v + 3); // three paths
    auto const graph = test::graph_from(32, edges);                  // and two isolated vertices
    auto const ordering = order_by_rcm(graph);
    expect_permutation(graph, ordering);
    EXPECT_EQ(bandwidth(graph, ordering), 1);
    EXPECT_EQ(ordering.perm[31], 0);
    EXPECT_EQ(ordering.perm[30], 1);
    expect_permutation(Graph{}, order_by_rcm(Graph{}));
}

// Vertices are neighbors if their numbers differ by at most `width`.
Graph band(Index n, Index width) {
    test::Edges edges;
    for (Index v = 0; v < n; ++v)
        for (Index w = v + 1; w < std::min(n, v + width + 1); ++w) edges.emplace_back(v, w);
    return test::graph_from(n, edges);
}

TEST(OrderIfNarrow, FindsTheBandOfShuffledVertices) {
    Index const n = 3000, width = 5;
    double const flops = n * (width + 1) * (width + 1);
    auto const graph = shuffled(band(n, width), 3);
    auto const narrow = order_if_narrow(graph, 2 * flops);
    ASSERT_TRUE(narrow);
    expect_permutation(graph, *narrow);
    EXPECT_LE(bandwidth(graph, *narrow), 2 * width - 1);
    EXPECT_TRUE(order_if_narrow(band(n, width), flops));
    EXPECT_FALSE(order_if_narrow(band(n, width), 0.9 * flops));
    EXPECT_FALSE(order_if_narrow(test::grid(60, 50), 2 * flops));
}

TEST(OrderIfNarrow, CountsTheOperationsOfAllComponentsAndRows) {
    test::Edges edges;
    for (Index v = 0; v + 10 < 1000; ++v) edges.emplace_back(v, v + 10); // ten paths
    auto graph = test::graph_from(1001, edges);                          // and an isolated vertex
    auto const paths = order_if_narrow(graph, 4 * 1001);
    ASSERT_TRUE(paths);
    expect_permutation(graph, *paths);
    EXPECT_EQ(bandwidth(graph, *paths), 1);
    EXPECT_FALSE(order_if_narrow(graph, 4 * 900));
    graph.weight.assign(1001, 3); // an envelope of six rows for three rows at a time
    EXPECT_TRUE(order_if_narrow(graph, 36 * 3 * 1001));
    EXPECT_FALSE(order_if_narrow(graph, 36 * 3 * 900));
    EXPECT_TRUE(order_if_narrow(Graph{}, 0));
}

} // namespace
} // namespace espalier
