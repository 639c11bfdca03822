#include "symbolic/column_counts.hpp"

#include <gtest/gtest.h>

#include "symbolic/prepared.hpp"

namespace espalier {
namespace {

using namespace testing;

TEST(ColumnCounts, MatchDenseFillOfTheRowsOfRandomPatterns) {
    std::mt19937_64 random(4);
    for (int seed = 0; seed < 300; ++seed) {
        Index const weights = seed % 3 == 0 ? 5 : 1;
        auto const n = static_cast<Index>(random() % (weights > 1 ? 21 : 50));
        auto const compressed =
            with_random_weights(random_graph(n, 0.2 + 0.007 * seed, random), weights, random);
        auto const p = prepare(compressed.graph, random_order(n, random));
        auto const heights = column_heights(dense_fill(compressed, row_order(compressed, p.ordering)));
        Sizes const expected(heights, std::ssize(heights));
        EXPECT_EQ(p.counts.nnz, expected.nnz);
        EXPECT_DOUBLE_EQ(p.counts.flops, expected.flops);
        Index row = 0; // the first of each vertex
        for (Vertex v = 0; v < n; row += p.pattern.weight[v++])
            ASSERT_EQ(p.counts.count[v], heights[row]) << "vertex " << v;
    }
}

TEST(ColumnCounts, TreeHeightCountsColumns) {
    EXPECT_EQ(prepare(path(100), natural_order(100)).counts.tree_height, 100);
    EXPECT_EQ(prepare(star(10, 9), natural_order(10)).counts.tree_height, 2);
    auto forest = graph_from(4, {});
    forest.weight = {1, 7, 2, 3};
    EXPECT_EQ(prepare(forest, natural_order(4)).counts.tree_height, 7);
}

} // namespace
} // namespace espalier
