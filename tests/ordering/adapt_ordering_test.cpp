#include "ordering/adapt_ordering.hpp"

#include <gtest/gtest.h>

#include "ordering/graphs.hpp"
#include "ordering/permutation.hpp"

namespace espalier {
namespace {

using namespace test;

// The dissection of a grid by its middle columns and rows. Parts of at most four vertices are not divided.
class GridDissection {
  public:
    GridDissection(Index nx, Index ny) : nx_(nx) {
        tree.node_of_row.resize(nx * ny);
        divide(0, nx, 0, ny);
    }

    SeparatorTree tree;

  private:
    Index divide(Index x0, Index x1, Index y0, Index y1) {
        Index const width = x1 - x0, height = y1 - y0;
        if (width * height <= 4) return add_node(x0, x1, y0, y1, {});
        if (width >= height) {
            Index const x = x0 + width / 2;
            return add_node(x, x + 1, y0, y1, {divide(x0, x, y0, y1), divide(x + 1, x1, y0, y1)});
        }
        Index const y = y0 + height / 2;
        return add_node(x0, x1, y, y + 1, {divide(x0, x1, y0, y), divide(x0, x1, y + 1, y1)});
    }

    Index add_node(Index x0, Index x1, Index y0, Index y1, std::vector<Index> const& children) {
        Index const node = std::ssize(tree.parent);
        tree.parent.push_back(-1);
        for (Index const child : children) tree.parent[child] = node;
        for (Index y = y0; y < y1; ++y)
            for (Index x = x0; x < x1; ++x) {
                tree.inverse.push_back(x + nx_ * y);
                tree.node_of_row[x + nx_ * y] = node;
            }
        return node;
    }

    Index nx_;
};

Graph with_edges(Graph const& graph, Edges edges) {
    for (Index v = 0; v < graph.num_vertices; ++v)
        for (Index const w : graph.neighbors(v)) edges.emplace_back(v, w);
    return graph_from(graph.num_vertices, edges);
}

std::size_t fill(Graph const& graph, Ordering const& ordering) {
    return fill_by_elimination(graph, ordering.perm);
}

// Each vertex is a row.
AdaptedOrdering adapt(Graph const& graph, SeparatorTree const& tree) {
    AdaptedOrdering adapted = adapt_ordering(uncompressed(graph), tree, {});
    auto const& [perm, inverse] = adapted.ordering;
    EXPECT_EQ(std::ssize(perm), graph.num_vertices);
    for (Index v = 0; v < std::ssize(perm); ++v) EXPECT_EQ(inverse.at(perm[v]), v);
    return adapted;
}

TEST(AdaptOrdering, KeepsTheOrderingOfTheSameGraph) {
    GridDissection const earlier(15, 15);
    auto const adapted = adapt(grid(15, 15), earlier.tree);
    EXPECT_EQ(adapted.ordering.inverse, earlier.tree.inverse);
    EXPECT_EQ(adapted.moved, 0);
    EXPECT_EQ(adapted.reordered, 0);
}

TEST(AdaptOrdering, KeepsTheOrderingIfRelatedVerticesBecomeAdjacent) {
    GridDissection const earlier(9, 9);
    auto const adapted =
        adapt(with_edges(grid(9, 9), {{4, 0}, {4 + 9 * 8, 8}}), earlier.tree); // x = 4 is the separator
    EXPECT_EQ(adapted.ordering.inverse, earlier.tree.inverse);
}

TEST(AdaptOrdering, OneEndOfABrokenEdgeMovesIntoTheSeparator) {
    GridDissection const earlier(9, 9);
    Index const left = 1 + 9 * 1, right = 7 + 9 * 2;
    auto const adapted = adapt(with_edges(grid(9, 9), {{left, right}}), earlier.tree);
    EXPECT_EQ(adapted.moved, 1);
    auto const& perm = adapted.ordering.perm;
    EXPECT_EQ(std::max(perm[left], perm[right]), 81 - 9 - 1); // before the nine vertices of the separator
    EXPECT_LT(std::min(perm[left], perm[right]), 81 - 9 - 1);
}

TEST(AdaptOrdering, OneMoveMendsAllEdgesOfAVertex) {
    GridDissection const earlier(9, 9);
    Edges edges;
    for (Index y = 0; y < 9; ++y) edges.emplace_back(1 + 9 * 1, 7 + 9 * y);
    EXPECT_EQ(adapt(with_edges(grid(9, 9), edges), earlier.tree).moved, 1);
}

TEST(AdaptOrdering, FillOfAFewRandomEdgesIsNearThatOfANewOrdering) {
    GridDissection const earlier(31, 31);
    Graph const before = grid(31, 31);
    std::mt19937 random(7);
    for (int trial = 0; trial < 5; ++trial) {
        Edges edges;
        for (int e = 0; e < 6; ++e)
            edges.emplace_back(random() % before.num_vertices, random() % before.num_vertices);
        Graph const graph = with_edges(before, edges);
        auto const adapted = adapt(graph, earlier.tree);
        EXPECT_LE(adapted.moved, 6);
        auto const unchanged = fill_by_elimination(graph, invert_permutation(earlier.tree.inverse, "test"));
        EXPECT_LE(fill(graph, adapted.ordering), unchanged);
        EXPECT_LE(static_cast<double>(fill(graph, adapted.ordering)),
                  1.5 * static_cast<double>(fill(graph, compute_ordering(graph, {}))));
    }
}

TEST(AdaptOrdering, OrdersASubtreeWithManyBrokenEdgesAgainAndLeavesTheRest) {
    GridDissection const earlier(41, 20);
    Edges edges; // columns 10 and 20 are separators, and y = 10 separates what is left of them
    for (Index x = 0; x < 20; ++x) edges.emplace_back(x + 41 * 4, x + 41 * 15);
    Graph const graph = with_edges(grid(41, 20), edges);
    auto const adapted = adapt(graph, earlier.tree);
    EXPECT_EQ(adapted.reordered, 19 * 20);
    auto const& inverse = adapted.ordering.inverse;
    EXPECT_TRUE(std::equal(inverse.begin() + 380, inverse.end(), earlier.tree.inverse.begin() + 380));
    EXPECT_LE(static_cast<double>(fill(graph, adapted.ordering)),
              1.5 * static_cast<double>(fill(graph, compute_ordering(graph, {}))));
}

TEST(AdaptOrdering, OrdersAnotherGraphAgain) {
    GridDissection const earlier(20, 20);
    Graph const graph = random_graph(400, 1200, 3);
    auto const adapted = adapt(graph, earlier.tree);
    EXPECT_EQ(adapted.reordered, 400);
    EXPECT_EQ(adapted.ordering.perm, compute_ordering(graph, {}).perm);
}

TEST(AdaptOrdering, RowsThatBecomeIndistinguishableMoveTogether) {
    GridDissection const earlier(9, 9);
    Graph const before = grid(9, 9);
    Index const left = 1 + 9 * 1, right = 7 + 9 * 2;
    CompressedGraph compressed;
    for (Index row = 0; row < 81; ++row)
        compressed.vertex_of_row.push_back(row == right ? left : row - (row > right));
    Edges edges;
    for (Index row = 0; row < 81; ++row)
        for (Index const other : before.neighbors(row))
            edges.emplace_back(compressed.vertex_of_row[row], compressed.vertex_of_row[other]);
    compressed.graph = graph_from(80, edges);
    compressed.graph.weight.assign(80, 1);
    compressed.graph.weight[left] = 2;
    auto const perm = adapt_ordering(compressed, earlier.tree, {}).ordering.perm;
    Index later = 0;
    for (Index v = 0; v < 80; ++v) later += perm[v] > perm[left];
    EXPECT_EQ(later, 9); // the vertices of the separator, whatever their order
}

TEST(AdaptOrdering, UnknownsOfASchurComplementComeLast) {
    GridDissection const earlier(9, 9);
    std::vector<Index> const last = {3, 40, 77};
    auto const compressed = uncompressed(grid(9, 9), last);
    auto const adapted = adapt_ordering(compressed, earlier.tree, {});
    auto const& inverse = adapted.ordering.inverse;
    EXPECT_EQ(std::vector<Index>(inverse.end() - 3, inverse.end()), compressed.last);
    EXPECT_EQ(std::set<Index>(inverse.begin(), inverse.end()).size(), 81U);
}

TEST(AdaptOrdering, AcceptsEmptyGraphsAndForests) {
    EXPECT_TRUE(adapt(Graph{}, {}).ordering.perm.empty());
    SeparatorTree const forest{{-1, -1, -1}, {2, 0, 1}, {1, 2, 0}};
    EXPECT_EQ(adapt(graph_from(3, {}), forest).ordering.inverse, forest.inverse);
    auto const joined = adapt(graph_from(3, {{0, 1}, {1, 2}}), forest);
    EXPECT_EQ(joined.ordering.inverse.back(), 1); // the only vertex with two broken edges
    EXPECT_EQ(joined.moved, 1);
}

// The lowest common ancestors are up to n / 2 nodes away.
TEST(AdaptOrdering, TakesNearlyLinearTimeInHighTrees) {
    Index const n = 400'000; // a path of separators, each with a leaf
    SeparatorTree comb;
    Edges edges;
    for (Index k = 0; k < n; ++k) {
        comb.parent.push_back(k % 2 == 0 ? std::min(k + 1, n - 1) : k + 2 < n ? k + 2 : -1);
        comb.inverse.push_back(k);
        comb.node_of_row.push_back(k);
        if (k % 2 == 0 && k < n / 2) edges.emplace_back(k, n - 2 - k);
    }
    auto const adapted = adapt_ordering(uncompressed(graph_from(n, edges)), comb, {});
    EXPECT_EQ(adapted.moved, n / 4);
}

} // namespace
} // namespace espalier
