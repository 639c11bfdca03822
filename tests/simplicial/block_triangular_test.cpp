#include "simplicial/block_triangular.hpp"

#include "simplicial/lu_plan.hpp"
#include "support.hpp"

namespace espalier {
namespace {

using namespace test;

// Whether there is a path from each column of a block to each other one, by the closure of the matched graph.
std::vector<std::vector<bool>> reachable(CscMatrix<double> const& a, BlockTriangularForm const& form) {
    Index const n = a.cols;
    std::vector<Index> column_of_row(n);
    for (Index k = 0; k < n; ++k) column_of_row[form.row[k]] = form.column[k];
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
    for (Index j = 0; j < n; ++j) {
        reach[j][j] = true;
        for (Offset const p : a.entries_of(j)) reach[j][column_of_row[a.row_ind[p]]] = true;
    }
    for (Index k = 0; k < n; ++k)
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n && reach[i][k]; ++j)
                if (reach[k][j]) reach[i][j] = true;
    return reach;
}

void check_form(CscMatrix<double> const& a, BlockTriangularForm const& form) {
    Index const n = a.cols;
    for (auto list : {form.row, form.column}) {
        std::ranges::sort(list);
        for (Index k = 0; k < n; ++k) ASSERT_EQ(list[k], k);
    }
    std::vector<Index> place(n), block(n);
    for (Index k = 0; k < n; ++k) place[form.row[k]] = k;
    for (Index b = 0; b < form.num_blocks(); ++b)
        for (Index k = form.start[b]; k < form.start[b + 1]; ++k) block[k] = b;
    for (Index k = 0; k < n; ++k) {
        bool has_diagonal = false;
        for (Offset const p : a.entries_of(form.column[k])) {
            Index const at = place[a.row_ind[p]];
            has_diagonal |= at == k;
            EXPECT_LE(block[at], block[k]);
        }
        EXPECT_TRUE(has_diagonal || form.structural_rank < n);
    }
    auto const reach = reachable(a, form);
    for (Index k = 0; k < n; ++k)
        for (Index l = 0; l < n; ++l) {
            bool const together =
                reach[form.column[k]][form.column[l]] && reach[form.column[l]][form.column[k]];
            EXPECT_EQ(together, block[k] == block[l]);
        }
}

TEST(BlockTriangular, FindsStrongComponentsOfRandomPatterns) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Index const n = 1 + static_cast<Index>(seed % 23);
        auto const a = irregular_matrix<double>(n, n * static_cast<Index>(seed % 4) / 2, seed % 5 == 0, seed);
        auto const form = block_triangular_form(pattern_of(a));
        ASSERT_TRUE(form);
        EXPECT_EQ(form->structural_rank, n);
        check_form(a, *form);
    }
}

TEST(BlockTriangular, RecognizesSymmetricPatternsAndFindsTheirComponents) {
    SplitMix64 random(11);
    for (int round = 0; round < 100; ++round) {
        Index const n = 1 + random.below(25);
        std::set<std::pair<Index, Index>> places;
        for (Index j = 0; j < n; ++j) places.insert({j, j});
        for (Index k = random.below(n + 1); k > 0; --k) {
            Index const i = random.below(n), j = random.below(n);
            places.insert({{i, j}, {j, i}});
        }
        auto const symmetric = fill_pattern<double>(n, places, 1);
        auto const form = block_triangular_form(pattern_of(symmetric));
        ASSERT_TRUE(form);
        EXPECT_TRUE(form->is_symmetric);
        EXPECT_EQ(form->structural_rank, n);
        check_form(symmetric, *form);

        places.erase(std::next(places.begin(), random.below(std::ssize(places))));
        auto const other = fill_pattern<double>(n, places, 1);
        auto const other_form = block_triangular_form(pattern_of(other));
        ASSERT_TRUE(other_form);
        EXPECT_FALSE(other_form->is_symmetric);
        check_form(other, *other_form);
    }
}

// Ranks that are known without a search: a column without entries, and two columns with a single row in
// common.
TEST(BlockTriangular, FindsTheStructuralRank) {
    auto const empty_column = fill_pattern<double>(4, {{0, 0}, {1, 1}, {1, 3}, {3, 2}}, 1);
    EXPECT_EQ(block_triangular_form(pattern_of(empty_column))->structural_rank, 3);
    auto const shared_row = fill_pattern<double>(4, {{0, 2}, {1, 2}, {2, 2}, {2, 0}, {3, 3}, {3, 1}}, 1);
    EXPECT_EQ(block_triangular_form(pattern_of(shared_row))->structural_rank, 3);
    auto const nothing = fill_pattern<double>(3, {}, 1);
    EXPECT_EQ(block_triangular_form(pattern_of(nothing))->structural_rank, 0);
    auto const none = fill_pattern<double>(0, {}, 1);
    EXPECT_EQ(block_triangular_form(pattern_of(none))->num_blocks(), 0);
}

TEST(BlockTriangular, NeedsAugmentingPathsThroughAllColumns) {
    Index const n = 2000; // column j has rows j and j + 1, and the last one only row 0
    std::set<std::pair<Index, Index>> places{{n - 1, 0}};
    for (Index j = 0; j + 1 < n; ++j) places.insert({{j, j}, {j, j + 1}});
    auto const a = fill_pattern<double>(n, places, 3);
    auto const form = block_triangular_form(pattern_of(a));
    ASSERT_TRUE(form);
    EXPECT_EQ(form->structural_rank, n);
    EXPECT_EQ(form->num_blocks(), n);
}

// The size of a maximum matching by one search per column, without lookahead.
Index matching_size(CscMatrix<double> const& a) {
    Index const n = a.cols;
    std::vector<Index> column_of(n, -1);
    std::vector<bool> seen;
    auto const search = [&](auto const& self, Index j) -> bool {
        for (Offset const p : a.entries_of(j)) {
            Index const i = a.row_ind[p];
            if (seen[i]) continue;
            seen[i] = true;
            if (column_of[i] >= 0 && !self(self, column_of[i])) continue;
            column_of[i] = j;
            return true;
        }
        return false;
    };
    Index size = 0;
    for (Index j = 0; j < n; ++j) {
        seen.assign(n, false);
        size += search(search, j);
    }
    return size;
}

TEST(BlockTriangular, MatchesAsManyColumnsAsSingleSearches) {
    SplitMix64 random(5);
    for (int round = 0; round < 300; ++round) {
        Index const n = 1 + random.below(40);
        std::set<std::pair<Index, Index>> places;
        for (Index k = random.below(3 * n); k >= 0; --k) places.insert({random.below(n), random.below(n)});
        auto const a = fill_pattern<double>(n, places, 1);
        auto const row_of = maximum_matching(pattern_of(a));
        ASSERT_TRUE(row_of);
        std::set<std::int32_t> rows;
        for (Index j = 0; j < n; ++j) {
            std::int32_t const row = (*row_of)[j];
            if (row < 0) continue;
            EXPECT_TRUE(places.contains({j, row}));
            EXPECT_TRUE(rows.insert(row).second) << "two columns have row " << row;
        }
        EXPECT_EQ(std::ssize(rows), matching_size(a));
    }
}

// A chain of nodes of four unknowns, whose last equation has no entry of its own unknown. Searches that may
// return to columns of earlier searches would take quadratic time.
TEST(BlockTriangular, SearchesOfManyColumnsTakeLinearTime) {
    Index const nodes = 15'000, n = 4 * nodes;
    std::set<std::pair<Index, Index>> places;
    for (Index node = 0; node < nodes; ++node) {
        Index const first = 4 * node, last = first + 3;
        for (Index i = first; i < last; ++i) {
            places.insert({{i, i}, {last, i}, {i, last}});
            if (node > 0) places.insert({i - 4, i});
            if (node + 1 < nodes) places.insert({{i + 4, i}, {last + 4, i}});
        }
    }
    constexpr double most_passes = 5;
    auto const form = block_triangular_form(pattern_of(fill_pattern<double>(n, places, 1)), most_passes);
    ASSERT_TRUE(form);
    EXPECT_EQ(form->structural_rank, n);
}

// Small blocks, and many entries above them that mislead searches, in random order.
TEST(BlockTriangular, FindsSmallBlocksBelowManyEntries) {
    Index const n = 5'000;
    SplitMix64 random(8);
    std::vector<Index> row(n), column(n);
    std::iota(row.begin(), row.end(), 0);
    std::iota(column.begin(), column.end(), 0);
    for (auto* const order : {&row, &column})
        for (Index k = n - 1; k > 0; --k) std::swap((*order)[k], (*order)[random.below(k + 1)]);
    std::set<std::pair<Index, Index>> places;
    for (Index first = 0, end = 0; first < n; first = end) {
        end = std::min(n, first + 1 + random.below(12));
        for (Index k = first; k < end; ++k) {
            places.insert({column[k], row[k]});
            places.insert({column[k], row[k + 1 < end ? k + 1 : first]});
            for (int extra = 0; extra < 4; ++extra) places.insert({column[k], row[random.below(end)]});
        }
    }
    auto const a = fill_pattern<double>(n, places, 3);
    EXPECT_FALSE(block_triangular_form(pattern_of(a), 1));
    auto const form = block_triangular_form(pattern_of(a));
    ASSERT_TRUE(form);
    EXPECT_EQ(form->structural_rank, n);
    EXPECT_GT(form->num_blocks(), n / 12);
}

TEST(BlockTriangular, LongChainsDoNotOverflowTheStack) {
    Index const n = 300'000;
    std::set<std::pair<Index, Index>> places;
    for (Index j = 0; j < n; ++j) places.insert({{j, j}, {j, (j + 1) % n}});
    auto const a = fill_pattern<double>(n, places, 3);
    auto const form = block_triangular_form(pattern_of(a));
    ASSERT_TRUE(form);
    EXPECT_EQ(form->num_blocks(), 1);
}

TEST(LuPlan, CountsTheFillOfATridiagonalMatrix) {
    Index const n = 50;
    std::set<std::pair<Index, Index>> places;
    for (Index j = 0; j < n; ++j)
        for (Index i = std::max<Index>(0, j - 1); i < std::min(n, j + 2); ++i) places.emplace(j, i);
    auto const a = fill_pattern<double>(n, places, 3);
    auto const plan = plan_simplicial_lu(pattern_of(a));
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->largest_block, n);
    EXPECT_EQ(plan->nnz_lower, n - 1);
    EXPECT_EQ(plan->nnz_factor, 3 * n - 2);
    EXPECT_EQ(plan->flops, 3 * (n - 1));
}

// The first column of an arrow fills the whole matrix.
TEST(LuPlan, CountsTheFillOfTheOrderOfTheMatrix) {
    Index const n = 30;
    std::set<std::pair<Index, Index>> places;
    for (Index j = 0; j < n; ++j) places.insert({{j, j}, {0, j}, {j, 0}});
    auto const a = fill_pattern<double>(n, places, 3);
    auto const ordered = plan_simplicial_lu(pattern_of(a)),
               natural = plan_simplicial_lu(pattern_of(a), false);
    ASSERT_TRUE(ordered && natural);
    EXPECT_EQ(ordered->nnz_factor, 3 * n - 2);
    EXPECT_EQ(natural->nnz_lower, n * (n - 1) / 2);
    EXPECT_EQ(natural->nnz_factor, n * n);
    EXPECT_EQ(natural->flops, n * (n - 1) / 2 + (n - 1) * n * (2 * n - 1) / 3);
}

TEST(LuPlan, PrefersSupernodesForDenseFactors) {
    auto const sparse = irregular_matrix<double>(2000, 500, false, 1),
               dense = irregular_matrix<double>(1500, 40'000, false, 1);
    EXPECT_TRUE(plan_simplicial_lu(pattern_of(sparse), true, true));
    EXPECT_TRUE(plan_simplicial_lu(pattern_of(dense), true, true).is(NoPlan::slower));
}

} // namespace
} // namespace espalier
