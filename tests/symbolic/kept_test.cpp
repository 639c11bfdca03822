// Vertices that are not eliminated: the supernode of a Schur complement.
#include <gtest/gtest.h>

#include "symbolic/prepared.hpp"
#include "symbolic/symbolic.hpp"
#include "symbolic/validate.hpp"

namespace espalier {
namespace {

using namespace testing;

TEST(Kept, VerticesAreNotCountedInTheElimination) {
    std::mt19937_64 random(22);
    for (int seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        auto const compressed = with_random_weights(random_graph(25, 0.4 + 0.02 * seed, random), 3, random);
        auto const ordering = random_order(25, random);
        auto options = bare_options();
        options.kept_vertices = static_cast<Index>(random() % 26);
        auto const structure = symbolic_factorization(compressed, ordering, options);
        auto const heights = column_heights(dense_fill(compressed, row_order(compressed, ordering)));
        auto const [nnz, flops] = Sizes(heights, structure.first_kept_col());
        EXPECT_EQ(structure.nnz_factor, nnz);
        EXPECT_DOUBLE_EQ(structure.flops, flops);
        EXPECT_NEAR(structure.stored_flops, flops, 1e-9 * flops); // nothing was merged
        Offset stored = 0;
        for (CblkId k = 0; k < structure.first_kept_cblk; ++k)
            stored += trapezoid_entries(structure.cblks[k].stride, structure.cblks[k].width());
        EXPECT_EQ(stored, nnz);
    }
}

TEST(Kept, LeavesStoreOnlyRowsThatTheyReach) {
    // Vertex 0 reaches one of the 50 kept vertices, vertex 1 another.
    SymbolicOptions options{.kept_vertices = 50};
    auto const structure = structure_of(graph_from(52, {{0, 12}, {1, 47}}), options);
    EXPECT_EQ(structure.nnz_factor, 4);
    EXPECT_LE(structure.cblks[0].rows_below(), 2);
    EXPECT_EQ(structure.num_kept_cols(), 50);
    EXPECT_EQ(structure.cblks[structure.first_kept_cblk].stride, 50);
}

TEST(Kept, SeparateTreesStaySeparate) {
    auto options = bare_options();
    options.kept_vertices = 1;
    // 0 - 1 - 2 is a separate tree; vertex 4 of 3 - 4 is kept.
    auto const graph = graph_from(5, {{0, 1}, {1, 2}, {3, 4}});
    auto const structure = structure_of(graph, options);
    EXPECT_EQ(structure.perm[4], 4);
    EXPECT_EQ(structure.first_kept_col(), 4);
    EXPECT_EQ(structure.cblks[structure.cblk_of_col[structure.perm[2]]].parent, no_cblk);
    EXPECT_EQ(structure.cblks[structure.cblk_of_col[structure.perm[3]]].parent, structure.first_kept_cblk);
    EXPECT_EQ(structure.tree_height, 3);
}

TEST(Kept, MayBeAllOrNone) {
    SymbolicOptions options{.max_width = 4, .min_width = 2};
    auto const none = structure_of(path(9), options);
    EXPECT_EQ(none.first_kept_cblk, none.num_cblks());
    EXPECT_EQ(none.first_kept_col(), 9);
    options.kept_vertices = 9;
    auto const all = structure_of(path(9), options);
    EXPECT_EQ(all.first_kept_cblk, 0);
    EXPECT_EQ(all.num_cblks(), 3);
    EXPECT_EQ(all.nnz_factor, 0);
    EXPECT_EQ(all.flops, 0);
    options.kept_vertices = 10;
    EXPECT_THROW(symbolic_factorization(uncompressed(path(9)), natural_order(9), options), Error);
    options.kept_vertices = -1;
    EXPECT_THROW(symbolic_factorization(uncompressed(path(9)), natural_order(9), options), Error);
}

} // namespace
} // namespace espalier
