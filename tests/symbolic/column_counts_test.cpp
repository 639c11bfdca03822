#include "symbolic/column_counts.hpp"

#include <gtest/gtest.h>

#include "symbolic/etree.hpp"
#include "symbolic/graphs.hpp"

namespace espalier {
namespace {

using namespace testing;

struct Analysed {
    Ordering ordering; // postordered
    LowerPattern pattern;
    std::vector<Vertex> parent;
    ColumnCounts counts;
};

Analysed analyse(Graph const& graph, Ordering const& any_order) {
    Analysed a;
    auto const parent = elimination_tree(graph, any_order);
    auto const post = postorder(parent);
    a.ordering = compose(any_order, post);
    a.parent = relabel_forest(parent, post);
    a.pattern = lower_pattern(graph, a.ordering);
    a.counts = column_counts(a.pattern, a.parent);
    return a;
}

// The height of the first column of each vertex in the expanded matrix.
void expect_counts_of_dense_fill(CompressedGraph const& compressed, Analysed const& a) {
    auto const heights = column_heights(dense_fill(compressed, row_order(compressed, a.ordering)));
    Offset nnz = 0;
    double flops = 0;
    for (Index h : heights) {
        nnz += h;
        flops += static_cast<double>(h * h);
    }
    EXPECT_EQ(a.counts.nnz, nnz);
    EXPECT_DOUBLE_EQ(a.counts.flops, flops);
    Index row = 0;
    for (Vertex v = 0; v < a.pattern.num_vertices(); row += a.pattern.weight[v++])
        ASSERT_EQ(a.counts.count[v], heights[row]) << "vertex " << v;
}

TEST(ColumnCounts, MatchDenseFillOnRandomPatterns) {
    std::mt19937_64 random(4);
    for (int seed = 0; seed < 200; ++seed) {
        auto const graph = random_graph(static_cast<Index>(random() % 50), 0.2 + 0.01 * seed, random);
        expect_counts_of_dense_fill(uncompressed(graph),
                                    analyse(graph, random_order(graph.num_vertices, random)));
    }
}

TEST(ColumnCounts, OfWeightedVerticesMatchDenseFillOfTheirRows) {
    std::mt19937_64 random(5);
    for (int seed = 0; seed < 100; ++seed) {
        auto const compressed = with_random_weights(
            random_graph(1 + static_cast<Index>(random() % 20), 0.2 + 0.02 * seed, random), 5, random);
        expect_counts_of_dense_fill(
            compressed, analyse(compressed.graph, random_order(compressed.graph.num_vertices, random)));
    }
}

TEST(ColumnCounts, TreeHeightCountsColumns) {
    EXPECT_EQ(analyse(path(100), natural_order(100)).counts.tree_height, 100);
    EXPECT_EQ(analyse(star(10, 9), natural_order(10)).counts.tree_height, 2);
    auto forest = graph_from(4, {});
    forest.weight = {1, 7, 2, 3};
    EXPECT_EQ(analyse(forest, natural_order(4)).counts.tree_height, 7);
}

TEST(ColumnCounts, OfAnEmptyGraphAreEmpty) {
    auto const a = analyse(graph_from(0, {}), natural_order(0));
    EXPECT_EQ(a.counts.nnz, 0);
    EXPECT_EQ(a.counts.flops, 0);
    EXPECT_EQ(a.counts.tree_height, 0);
}

TEST(Trapezoid, FormulasSumColumnByColumn) {
    for (Index width = 0; width < 9; ++width)
        for (Index height = width; height < 12; ++height) {
            Offset entries = 0;
            double flops = 0;
            for (Index k = 0; k < width; ++k) {
                entries += height - k;
                flops += static_cast<double>((height - k) * (height - k));
            }
            EXPECT_EQ(trapezoid_entries(height, width), entries);
            EXPECT_DOUBLE_EQ(trapezoid_flops(height, width), flops);
        }
}

} // namespace
} // namespace espalier
