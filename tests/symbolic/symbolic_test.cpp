#include "symbolic/symbolic.hpp"

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "symbolic/block_symbolic.hpp"
#include "symbolic/column_counts.hpp"
#include "symbolic/prepared.hpp"
#include "symbolic/validate.hpp"

namespace espalier {
namespace {

using namespace testing;

Offset stored_trapezoids(BlockStructure const& structure) {
    Offset entries = 0;
    for (Cblk const& cblk : structure.cblks) entries += trapezoid_entries(cblk.stride, cblk.width());
    return entries;
}

void expect_rows_of_a_vertex_together(CompressedGraph const& compressed, BlockStructure const& structure) {
    std::vector<Index> previous(compressed.graph.num_vertices, -1);
    for (Index old = 0; old < structure.n; ++old) {
        Index& last = previous[compressed.vertex_of_row[old]];
        if (last >= 0) {
            ASSERT_EQ(structure.perm[old], last + 1);
        }
        last = structure.perm[old];
    }
}

void expect_widths_within_bounds(BlockStructure const& structure, SymbolicOptions const& options) {
    std::vector<Index> supernode_width(structure.num_supernodes, 0);
    for (Cblk const& cblk : structure.cblks) supernode_width[cblk.supernode] += cblk.width();
    for (Cblk const& cblk : structure.cblks) {
        EXPECT_GE(cblk.width(), std::min(options.min_width, supernode_width[cblk.supernode]));
        if (options.max_width >= 2 * options.min_width - 1) {
            EXPECT_LE(cblk.width(), options.max_width);
        }
    }
}

TEST(Symbolic, EveryEntryOfTheFillIsInABlok) {
    std::mt19937_64 random(6);
    for (int seed = 0; seed < 600; ++seed) {
        SCOPED_TRACE(seed);
        Index const weights = seed % 3 == 0 ? 6 : 1;
        auto const n = static_cast<Index>(random() % (weights > 1 ? 20 : 60));
        auto const compressed =
            with_random_weights(random_graph(n, 0.3 + 0.004 * seed, random), weights, random);
        auto const ordering = random_order(n, random);
        auto options = random_options(random);
        if (seed % 2) options.kept_vertices = static_cast<Index>(random() % (n + 1));
        auto const structure = symbolic_factorization(compressed, ordering, options);
        ASSERT_NO_THROW(validate(structure));
        ASSERT_NO_FATAL_FAILURE(expect_covered(dense_fill(compressed, structure.perm), structure));
        ASSERT_NO_FATAL_FAILURE(expect_rows_of_a_vertex_together(compressed, structure));
        expect_widths_within_bounds(structure, options);
        for (Index row = 0; row < structure.n; ++row) {
            bool const kept = ordering.perm[compressed.vertex_of_row[row]] >= n - options.kept_vertices;
            ASSERT_EQ(structure.perm[row] >= structure.first_kept_col(), kept);
        }
    }
}

TEST(Symbolic, WithoutAmalgamationStoresExactlyTheFundamentalSupernodes) {
    std::mt19937_64 random(7);
    for (int seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        auto const graph = random_graph(static_cast<Index>(random() % 60), 0.3 + 0.008 * seed, random);
        auto const ordering = random_order(graph.num_vertices, random);
        auto const compressed = uncompressed(graph);
        auto options = bare_options();
        options.reorder_rows = seed % 2;
        auto const structure = symbolic_factorization(compressed, ordering, options);
        validate(structure);

        auto const fill = dense_fill(compressed, ordering.perm);
        auto const heights = column_heights(fill);
        auto const parent = first_rows_below(fill);
        std::vector<int> children(parent.size(), 0);
        for (Index p : parent)
            if (p >= 0) ++children[p];
        Offset const nnz = Sizes(heights, graph.num_vertices).nnz;
        Index fundamental = graph.num_vertices;
        for (Index j = 0; j < graph.num_vertices; ++j)
            fundamental -= parent[j] >= 0 && children[parent[j]] == 1 && heights[j] == heights[parent[j]] + 1;
        EXPECT_EQ(structure.nnz_factor, nnz);
        EXPECT_EQ(stored_trapezoids(structure), nnz);
        EXPECT_EQ(structure.num_supernodes, fundamental);
        EXPECT_EQ(structure.num_cblks(), fundamental);
        EXPECT_DOUBLE_EQ(structure.stored_flops, structure.flops);
    }
}

TEST(Symbolic, SplittingKeepsTheEntriesBelowTheDiagonal) {
    std::mt19937_64 random(9);
    auto const compressed = with_random_weights(grid(9, 9, 3), 3, random);
    auto const ordering = nested_dissection(9, 9, 3);
    auto options = bare_options();
    auto const whole = symbolic_factorization(compressed, ordering, options);
    options.min_width = 3;
    options.max_width = 6;
    auto const split = symbolic_factorization(compressed, ordering, options);
    EXPECT_GT(split.num_cblks(), whole.num_cblks());
    EXPECT_EQ(split.num_supernodes, whole.num_supernodes);
    EXPECT_EQ(stored_trapezoids(split), stored_trapezoids(whole));
    EXPECT_LT(split.stored, whole.stored); // fewer coefficients above the diagonal
    EXPECT_NEAR(split.stored_flops, whole.stored_flops, 1e-9 * whole.stored_flops);
}

TEST(Symbolic, ReorderingKeepsTheStoredEntriesAndAddsNoBloksOnGrids) {
    struct Case {
        Graph graph;
        Ordering ordering;
    };
    std::mt19937_64 random(14);
    for (auto const& [graph, ordering] : {Case{grid(12, 12, 12), nested_dissection(12, 12, 12)},
                                          Case{grid(40, 40, 1), nested_dissection(40, 40, 1)},
                                          Case{grid(20, 20, 1), random_order(400, random)}}) {
        SymbolicOptions options;
        options.max_width = options.min_width = 1'000'000; // cuts depend on the order
        options.reorder_rows = false;
        auto const before = symbolic_factorization(uncompressed(graph), ordering, options);
        options.reorder_rows = true;
        auto const after = symbolic_factorization(uncompressed(graph), ordering, options);
        validate(after);
        EXPECT_EQ(after.nnz_factor, before.nnz_factor);
        EXPECT_EQ(after.stored, before.stored);
        EXPECT_EQ(after.num_cblks(), before.num_cblks());
        EXPECT_LE(after.num_bloks(), before.num_bloks());
    }
}

TEST(Symbolic, OfAnEmptyMatrixIsEmpty) {
    auto const structure = structure_of(graph_from(0, {}));
    EXPECT_EQ(structure.n, 0);
    EXPECT_EQ(structure.num_cblks(), 0);
    EXPECT_EQ(structure.facing_ptr, std::vector<Offset>{0});
    EXPECT_EQ(structure.tree_height, 0);
    EXPECT_EQ(tree_depth(structure), 0);
}

TEST(Symbolic, OfADiagonalMatrixHasRootsOnly) {
    auto const exact = structure_of(graph_from(40, {}), bare_options());
    EXPECT_EQ(exact.num_cblks(), 40);
    EXPECT_EQ(exact.stored, 40);
    auto const bundled = structure_of(graph_from(40, {}));
    EXPECT_EQ(bundled.num_cblks(), 3);
    EXPECT_EQ(bundled.nnz_factor, 40);
    for (auto const* structure : {&exact, &bundled})
        for (Cblk const& cblk : structure->cblks) EXPECT_EQ(cblk.parent, no_cblk);
}

TEST(Symbolic, OfADenseMatrixIsOneEvenlySplitSupernode) {
    // As 100 vertices, and compressed to one vertex of 100 rows.
    CompressedGraph one_vertex{graph_from(1, {}), std::vector<Index>(100, 0)};
    one_vertex.graph.weight = {100};
    SymbolicOptions options{.max_width = 32, .min_width = 16};
    for (auto const& compressed : {uncompressed(complete(100)), one_vertex}) {
        auto const structure =
            symbolic_factorization(compressed, natural_order(compressed.graph.num_vertices), options);
        validate(structure);
        EXPECT_EQ(structure.num_supernodes, 1);
        EXPECT_EQ(structure.num_cblks(), 4);
        EXPECT_EQ(structure.num_bloks(), 4 + 3 + 2 + 1);
        EXPECT_EQ(structure.nnz_factor, 100 * 101 / 2);
        EXPECT_EQ(tree_depth(structure), 4);
        for (Cblk const& cblk : structure.cblks) EXPECT_NEAR(static_cast<double>(cblk.width()), 25, 4);
    }
}

TEST(Symbolic, OfAnArrowMatrixFollowsTheHub) {
    auto const last = structure_of(star(300, 299));
    EXPECT_EQ(last.nnz_factor, 300 + 299);
    EXPECT_EQ(last.tree_height, 2);
    EXPECT_LT(last.num_cblks(), 40);
    auto const first = structure_of(star(300, 0));
    EXPECT_EQ(first.nnz_factor, 300 * 301 / 2);
    EXPECT_EQ(first.num_supernodes, 1);
}

TEST(Symbolic, OfALongChainNeedsNoRecursionAndFewCblks) {
    Index const n = 200'000; // A recursion of this depth overflows the stack.
    auto const structure = structure_of(path(n));
    EXPECT_EQ(structure.nnz_factor, 2 * n - 1);
    EXPECT_EQ(structure.tree_height, n);
    EXPECT_LT(structure.num_cblks(), n / 8);
    EXPECT_EQ(tree_depth(structure), structure.num_cblks());
}

TEST(Symbolic, KeepsTheRowsOfACompressedVertexInTheirOldOrder) {
    // Two vertices, rows 0 2 4 and rows 1 3, not connected.
    CompressedGraph compressed{graph_from(2, {}), {0, 1, 0, 1, 0}};
    compressed.graph.weight = {3, 2};
    auto const structure = symbolic_factorization(compressed, ordering_from({1, 0}), {});
    EXPECT_EQ(structure.perm, (std::vector<Index>{2, 0, 3, 1, 4}));
    EXPECT_EQ(structure.inverse, (std::vector<Index>{1, 3, 0, 2, 4}));
}

TEST(Symbolic, ChildrenOfLaterPiecesComeFirstSoThatCblksArePostordered) {
    // Vertex 0 reaches only the last two columns of the clique 2..7, vertex 1 its first two.
    auto const graph = graph_from(8, with_clique({{0, 6}, {0, 7}, {1, 2}, {1, 3}}, 2, 8));
    auto options = bare_options();
    options.min_width = options.max_width = 2;
    for (auto const& order :
         {ordering_from({0, 1, 2, 3, 4, 5, 6, 7}), ordering_from({1, 0, 2, 3, 4, 5, 6, 7})}) {
        auto const structure = symbolic_factorization(uncompressed(graph), order, options);
        validate(structure);
        EXPECT_EQ(structure.perm[0], 0);
        EXPECT_EQ(structure.cblks[0].parent, structure.num_cblks() - 1);
    }
}

TEST(Symbolic, RejectsInvalidOptions) {
    SymbolicOptions options;
    auto const status = [&] {
        return status_of([&] { symbolic_factorization(uncompressed(path(3)), natural_order(3), options); });
    };
    options.min_width = 0;
    EXPECT_EQ(status(), Status::usage);
    options.min_width = 300;
    EXPECT_EQ(status(), Status::usage);
    options.max_width = 300;
    EXPECT_EQ(status(), Status::ok);
    options.amalgamation_fill = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(status(), Status::usage);
}

TEST(Symbolic, RejectsAnOrderingOfAnotherGraph) {
    EXPECT_THROW(symbolic_factorization(uncompressed(path(3)), natural_order(4), {}), Error);
    EXPECT_THROW(symbolic_factorization(uncompressed(path(3)), Ordering{{0, 0, 1}, {0, 2, 1}}, {}), Error);
    EXPECT_THROW(symbolic_factorization(uncompressed(path(3)), Ordering{{1, 2, 0}, {1, 2, 0}}, {}), Error);
    CompressedGraph vertex_without_rows{path(3), {0, 1, 1}};
    vertex_without_rows.graph.weight = {1, 2, 0};
    EXPECT_THROW(symbolic_factorization(vertex_without_rows, natural_order(3), {}), Error);
    CompressedGraph wrong_weights{path(3), {0, 1, 2, 2}};
    EXPECT_THROW(symbolic_factorization(wrong_weights, natural_order(3), {}), Error);
}

} // namespace
} // namespace espalier
