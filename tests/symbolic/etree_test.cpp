#include "symbolic/etree.hpp"

#include <gtest/gtest.h>

#include "symbolic/graphs.hpp"

namespace espalier {
namespace {

using namespace testing;

TEST(Etree, MatchesDenseFillOnRandomPatterns) {
    std::mt19937_64 random(1);
    for (int seed = 0; seed < 200; ++seed) {
        auto const graph = random_graph(static_cast<Index>(random() % 40), 0.3 + 0.01 * seed, random);
        auto const ordering = random_order(graph.num_vertices, random);
        auto const parent = elimination_tree(graph, ordering);
        auto const expected = first_rows_below(dense_fill(uncompressed(graph), ordering.perm));
        ASSERT_EQ(std::vector<Index>(parent.begin(), parent.end()), expected) << "seed " << seed;
    }
}

TEST(Postorder, VisitsSubtreesContiguouslyAndSiblingsInTheirOrder) {
    //      5       6
    //     / \      |
    //    0   4     3
    //       / \          (parents may precede their children)
    //      1   2
    std::vector<Vertex> const parent{5, 4, 4, 6, 5, no_vertex, no_vertex};
    EXPECT_EQ(postorder(parent), (std::vector<Vertex>{0, 1, 2, 4, 5, 3, 6}));
    std::vector<Vertex> const siblings{6, 5, 4, 3, 2, 1, 0};
    EXPECT_EQ(postorder(parent, siblings), (std::vector<Vertex>{3, 6, 2, 1, 4, 0, 5}));
}

} // namespace
} // namespace espalier
