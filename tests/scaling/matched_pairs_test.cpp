#include <gtest/gtest.h>

#include "generators/generators.hpp"
#include "scaling/matching.hpp"
#include "scaling/scaling_checks.hpp"

using namespace espalier;
using namespace espalier::test;

namespace {

using Pairs = std::vector<std::pair<Index, Index>>;

template <class T> class MatchedPairsOf : public testing::Test {};
TYPED_TEST_SUITE(MatchedPairsOf, Scalars);

/// A matching with all scales 1.
Matching plain_matching(std::vector<Index> row_of_column) {
    std::vector<double> const ones(row_of_column.size(), 1.0);
    Index const rank =
        std::count_if(row_of_column.begin(), row_of_column.end(), [](Index i) { return i >= 0; });
    return {std::move(row_of_column), ones, ones, rank};
}

/// The symmetric matrix of a cycle 0 - 1 - ... - (n - 1) - 0 of entries 1 and the given diagonal, n > 2.
CscMatrix<double> cycle_matrix(std::vector<double> const& diagonal) {
    Index const n = static_cast<Index>(diagonal.size());
    std::vector<std::vector<std::pair<Index, double>>> columns(n);
    for (Index j = 0; j < n; ++j) {
        if (diagonal[j] != 0) columns[j].emplace_back(j, diagonal[j]);
        if (j + 1 < n) columns[j].emplace_back(j + 1, 1.0);
    }
    columns[0].emplace_back(n - 1, 1.0);
    auto a = from_columns(n, std::move(columns));
    a.symmetry = Symmetry::symmetric;
    return a;
}

std::vector<Index> cyclic_shift(Index n) {
    std::vector<Index> next(n);
    for (Index j = 0; j < n; ++j) next[j] = (j + 1) % n;
    return next;
}

Pairs sorted(Pairs pairs) {
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

/// Number of cycles and paths of odd length, each of which leaves one index without a pair.
Index num_odd_chains(std::vector<Index> const& next) {
    Index const n = static_cast<Index>(next.size());
    std::vector<Index> previous(n, -1);
    for (Index j = 0; j < n; ++j)
        if (next[j] >= 0) previous[next[j]] = j;
    std::vector<char> seen(n, 0);
    Index odd = 0;
    for (Index j = 0; j < n; ++j) {
        Index first = j, length = 0;
        if (seen[j]) continue;
        while (previous[first] >= 0 && previous[first] != j) first = previous[first];
        for (Index i = first; i >= 0 && !seen[i]; i = next[i], ++length) seen[i] = 1;
        odd += length % 2;
    }
    return odd;
}

} // namespace

TYPED_TEST(MatchedPairsOf, RandomMatrixAreDisjointMatchedAndLeaveOneOfEachOddChain) {
    for (Symmetry const symmetry : all_symmetries)
        for (unsigned seed = 1; seed <= 40; ++seed) {
            auto const a = random_matrix<TypeParam>(40, 40, symmetry, seed % 2 ? 0.04 : 0.1, seed);
            auto const matching = maximum_product_matching(a);
            auto const& next = matching.row_of_column;
            auto const pairs = matched_pairs(matching, a);
            std::vector<char> covered(40, 0);
            for (auto const& [i, j] : pairs) {
                ASSERT_LT(i, j);
                ASSERT_TRUE(next[i] == j || next[j] == i);
                ASSERT_FALSE(covered[i] || covered[j]);
                covered[i] = covered[j] = 1;
            }
            Index const alone = 40 - 2 * static_cast<Index>(pairs.size());
            ASSERT_EQ(alone, num_odd_chains(next));
        }
}

TYPED_TEST(MatchedPairsOf, SymmetricMatrixHaveScaledEntryNearOneBetweenThem) {
    for (Symmetry const symmetry : {Symmetry::symmetric, Symmetry::hermitian}) {
        auto const a = random_matrix<TypeParam>(150, 150, symmetry, 0.1, 5);
        auto const matching = maximum_product_matching(a);
        ASSERT_EQ(matching.structural_rank, 150);
        auto const scale = symmetric_scaling(matching);
        auto const pairs = matched_pairs(matching, a);
        EXPECT_GT(pairs.size(), 30u);
        auto const dense = to_dense(a);
        for (auto const& [i, j] : pairs) {
            double const scaled = std::abs(std::complex<double>(dense(i, j))) * scale[i] * scale[j];
            EXPECT_GE(scaled, 0.7071);
            EXPECT_LE(scaled, 1.4143);
        }
    }
}

TEST(MatchedPairs, DiagonalMatchingHasNone) {
    EXPECT_TRUE(matched_pairs(plain_matching({0, 1, 2}), cycle_matrix({2, 2, 2})).empty());
    EXPECT_TRUE(matched_pairs(plain_matching({}), CscMatrix<double>{}).empty());
}

TEST(MatchedPairs, EvenCycleTakesTheBetterDeterminants) {
    auto const matching = plain_matching(cyclic_shift(4));
    // Blocks (0, 1) and (2, 3) would be (1 1; 1 1) and (0 1; 1 0).
    EXPECT_EQ(sorted(matched_pairs(matching, cycle_matrix({1, 1, 0, 0}))), (Pairs{{0, 3}, {1, 2}}));
    EXPECT_EQ(sorted(matched_pairs(matching, cycle_matrix({0, 1, 1, 0}))), (Pairs{{0, 1}, {2, 3}}));
    EXPECT_EQ(sorted(matched_pairs(matching, cycle_matrix({0, 0, 0, 0}))), (Pairs{{0, 1}, {2, 3}}));
}

TEST(MatchedPairs, HermitianDeterminantsUseTheConjugate) {
    using Complex = std::complex<double>;
    // |a_01|^2 = a_00 a_11, but a_01^2 = -a_00 a_11: the Hermitian block is singular, the symmetric one is
    // not.
    auto a = from_columns<Complex>(
        4, {{{0, 1.0}, {1, Complex(0, 1)}, {3, 1.0}}, {{1, 1.0}, {2, 1.0}}, {{3, 1.0}}, {}});
    a.symmetry = Symmetry::hermitian;
    EXPECT_EQ(sorted(matched_pairs(plain_matching(cyclic_shift(4)), a)), (Pairs{{0, 3}, {1, 2}}));
    a.symmetry = Symmetry::symmetric;
    EXPECT_EQ(sorted(matched_pairs(plain_matching(cyclic_shift(4)), a)), (Pairs{{0, 1}, {2, 3}}));
}

TEST(MatchedPairs, OddCycleDropsItsLargestDiagonal) {
    auto const matching = plain_matching(cyclic_shift(5));
    EXPECT_EQ(sorted(matched_pairs(matching, cycle_matrix({0, 0.1, 0, -0.7, 0.2}))), (Pairs{{0, 4}, {1, 2}}));
    EXPECT_EQ(matched_pairs(matching, cycle_matrix({0, 0, 0, 0, 0})).size(), 2u);
}

TEST(MatchedPairs, TheLargestDiagonalIsScaled) {
    auto matching = plain_matching(cyclic_shift(3));
    auto const a = cycle_matrix({1, 0, 2});
    EXPECT_EQ(matched_pairs(matching, a), (Pairs{{0, 1}}));
    matching.row_scale[0] = 9;
    EXPECT_EQ(matched_pairs(matching, a), (Pairs{{1, 2}}));
}

TEST(MatchedPairs, PathOfASingularMatrixIsSplitFromItsEnds) {
    // Column 4 and row 0 are unmatched: 0 - 1 - 2 - 3 - 4. Dropping 1 or 3 would leave two more without a
    // pair.
    auto const a = cycle_matrix({0, 5, 1, 5, 0});
    EXPECT_EQ(sorted(matched_pairs(plain_matching({1, 2, 3, 4, -1}), a)), (Pairs{{0, 1}, {3, 4}}));
    EXPECT_EQ(sorted(matched_pairs(plain_matching({1, 2, 3, -1, 4}), a)), (Pairs{{0, 1}, {2, 3}}));
}

TEST(MatchedPairs, SaddlePointPairsPressuresWithVelocities) {
    auto const a = std::get<CscMatrix<double>>(generate_matrix("saddle3d:5").matrix);
    std::vector<char> zero_diagonal(a.cols, 1);
    for_each_nonzero(a, [&](Index i, Index j, auto) {
        if (i == j) zero_diagonal[i] = 0;
    });
    std::vector<char> paired(a.cols, 0);
    for (auto const& [i, j] : matched_pairs(maximum_product_matching(a), a)) paired[i] = paired[j] = 1;
    Index pressures = 0;
    for (Index i = 0; i < a.cols; ++i)
        if (zero_diagonal[i]) {
            ++pressures;
            EXPECT_TRUE(paired[i]) << "row " << i << " has a zero diagonal and stands alone";
        }
    EXPECT_GT(pressures, 100);
}

TEST(MatchedPairs, LongCycleNeedsNoDeepStack) {
    Index const n = 200'001;
    std::vector<double> diagonal(n, 0.0);
    diagonal[1000] = 1;
    auto const pairs = matched_pairs(plain_matching(cyclic_shift(n)), cycle_matrix(diagonal));
    EXPECT_EQ(static_cast<Index>(pairs.size()), n / 2);
    for (auto const& [i, j] : pairs) ASSERT_TRUE(i != 1000 && j != 1000);
}

TEST(MatchedPairs, RejectsAMatchingOfAnotherSize) {
    auto const a = cycle_matrix({0, 0, 0});
    EXPECT_EQ(status_of([&] { matched_pairs(plain_matching({0, 1}), a); }), Status::usage);
}
