#include <algorithm>

#include <gtest/gtest.h>

#include "matrix/adjacency.hpp"
#include "matrix/dense_reference.hpp"

using namespace espalier;
using namespace espalier::test;

//   [ 1  .  7  . ]
//   [ 2  .  .  . ]     edges 0-1 and 0-2; row 3 has no neighbors; its diagonal entry is no edge
//   [ 8  .  3  . ]
//   [ .  .  .  4 ]
TEST(Adjacency, WorkedExample) {
    CscMatrix<double> const a{
        4, 4, Symmetry::general, {0, 3, 3, 5, 6}, {0, 1, 2, 0, 2, 3}, {1, 2, 8, 7, 3, 4}};
    auto const graph = adjacency_graph(a);
    EXPECT_EQ(graph.num_vertices, 4);
    EXPECT_EQ(graph.ptr, (std::vector<Offset>{0, 2, 3, 4, 4}));
    EXPECT_EQ(graph.adj, (std::vector<Index>{1, 2, 0, 0}));
    EXPECT_TRUE(graph.weight.empty());
    EXPECT_EQ(adjacency_graph(CscMatrix<double>{}).num_vertices, 0);
}

TEST(Adjacency, MatchesDensePatternForEverySymmetry) {
    for (Symmetry const symmetry : all_symmetries)
        for (unsigned seed = 0; seed < 20; ++seed) {
            auto const a = random_matrix<std::complex<double>>(17, 17, symmetry, 0.02 * seed, seed);
            auto const dense = to_dense(a);
            auto const graph = adjacency_graph(a);
            ASSERT_EQ(graph.ptr.back(), static_cast<Offset>(graph.adj.size()));
            for (Index v = 0; v < 17; ++v) {
                std::vector<Index> expected;
                for (Index w = 0; w < 17; ++w)
                    if (w != v && (dense(v, w) != 0.0 || dense(w, v) != 0.0)) expected.push_back(w);
                EXPECT_TRUE(std::ranges::equal(graph.neighbors(v), expected));
            }
        }
}

TEST(Adjacency, StoredZerosAreEdges) {
    CscMatrix<double> const a{2, 2, Symmetry::general, {0, 1, 1}, {1}, {0}};
    EXPECT_EQ(adjacency_graph(a).adj, (std::vector<Index>{1, 0}));
}

TEST(Adjacency, RejectsARectangularMatrix) {
    auto const a = random_matrix<double>(3, 5, Symmetry::general, 0.5, 1);
    EXPECT_EQ(status_of([&] { adjacency_graph(a); }), Status::bad_input);
}
