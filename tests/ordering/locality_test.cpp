#include "ordering/locality.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "ordering/compress.hpp"
#include "ordering/graphs.hpp"
#include "ordering/permutation.hpp"

namespace espalier {
namespace {

using namespace test;

// A grid of 160 x 160 vertices whose numbers are shuffled: vertex v of the grid has the number number[v].
Graph shuffled_grid(std::vector<Index>& number) {
    Graph const whole = grid(160, 160);
    number.resize(whole.num_vertices);
    std::iota(number.begin(), number.end(), Index(0));
    std::shuffle(number.begin(), number.end(), std::mt19937(7));
    return renumbered(whole, invert_permutation(number, "the shuffle"), number);
}

TEST(Locality, NumbersAreScatteredOnlyWhereMostNeighborsAreFarAway) {
    std::vector<Index> number;
    EXPECT_TRUE(is_scattered(shuffled_grid(number)));
    EXPECT_FALSE(is_scattered(grid(160, 160)));
    EXPECT_FALSE(is_scattered(random_graph(1000, 3000, 1))) << "the graph fits into the cache";
    EXPECT_FALSE(is_scattered(Graph()));
}

TEST(Locality, ABreadthFirstOrderReachesEveryComponentNearestVerticesFirst) {
    Graph const graph = side_by_side({path(4), star(5, 4), grid(3, 3)});
    EXPECT_EQ(breadth_first_order(graph),
              (std::vector<Index>{0, 1, 2, 3, 4, 8, 5, 6, 7, 9, 10, 12, 11, 13, 15, 14, 16, 17}));
}

TEST(Locality, ARenumberedGraphHasTheSameEdgesAndWeights) {
    Graph graph = random_graph(50, 120, 3);
    for (Index v = 0; v < 50; ++v) graph.weight.push_back(1 + v);
    auto const vertex_at = breadth_first_order(graph);
    auto const number = invert_permutation(vertex_at, "the order");
    Graph const result = renumbered(graph, vertex_at, number);
    for (Index v = 0; v < 50; ++v) {
        std::set<Index> expected;
        for (Index const w : graph.neighbors(v)) expected.insert(number[w]);
        EXPECT_TRUE(std::ranges::equal(result.neighbors(number[v]), expected)) << "vertex " << v;
        EXPECT_EQ(result.weight_of(number[v]), graph.weight_of(v));
    }
}

TEST(Locality, CompressionNumbersScatteredGraphsSoThatNeighborsAreClose) {
    std::vector<Index> number;
    Graph const graph = shuffled_grid(number);
    auto const compressed = compress(graph);
    ASSERT_EQ(compressed.graph.num_vertices, graph.num_vertices);
    EXPECT_FALSE(is_scattered(compressed.graph));
    for (Index v = 0; v < graph.num_vertices; v += 37) {
        std::set<Index> expected;
        for (Index const w : graph.neighbors(v)) expected.insert(compressed.vertex_of_row[w]);
        EXPECT_TRUE(std::ranges::equal(compressed.graph.neighbors(compressed.vertex_of_row[v]), expected));
    }
}

TEST(Locality, UnknownsThatComeLastKeepTheirNumbers) {
    std::vector<Index> number;
    Graph const graph = shuffled_grid(number);
    auto const compressed = compress(graph, std::vector<Index>{5});
    EXPECT_EQ(compressed.vertex_of_row[5], compressed.last.at(0));
    EXPECT_TRUE(is_scattered(compressed.graph));
}

} // namespace
} // namespace espalier
