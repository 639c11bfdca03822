#include <algorithm>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "generators/generators.hpp"
#include "matrix/entries.hpp"
#include "scaling/matching.hpp"
#include "scaling/scaling_checks.hpp"

using namespace espalier;
using namespace espalier::test;

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr double tolerance = 1e-10;

/// The largest modulus that may be rounded to 1, and a little more.
double rounded_up(int steps) {
    return std::exp2(0.5 / steps) + tolerance;
}
double rounded_down(int steps) {
    return std::exp2(-0.5 / steps) - tolerance;
}

/// The exponent of the power of 2^(1/steps) that is nearest to |value|.
template <class T> double exponent_of(T value, int steps) {
    return std::round(steps * std::log2(std::abs(value)));
}

template <class T> class MatchingOf : public testing::Test {};
TYPED_TEST_SUITE(MatchingOf, Scalars);

/// Dynamic programming over the columns: best[set of used rows] is the largest sum of exponents of matchings
/// with these rows.
template <class T>
std::vector<double> best_by_row_set(CscMatrix<T> const& a, std::vector<char> const& columns, int steps = 1) {
    std::vector<std::vector<std::pair<Index, double>>> entries(a.cols);
    for_each_nonzero(a, [&](Index i, Index j, auto value) {
        if (columns[j]) entries[j].emplace_back(i, exponent_of(value, steps));
    });
    std::vector<double> best(std::size_t(1) << a.rows, minus_infinity);
    best[0] = 0;
    for (auto const& column : entries) {
        auto const before = best;
        for (std::size_t set = 0; set < before.size(); ++set)
            for (auto const& [row, log] : column)
                if (!(set >> row & 1)) {
                    double& extended = best[set | std::size_t(1) << row];
                    extended = std::max(extended, before[set] + log);
                }
    }
    return best;
}

Index largest_size(std::vector<double> const& best_by_set) {
    int size = 0;
    for (std::size_t set = 0; set < best_by_set.size(); ++set)
        if (best_by_set[set] > minus_infinity) size = std::max(size, __builtin_popcountll(set));
    return size;
}

void expect_usable(std::vector<double> const& scales, Index n) {
    ASSERT_EQ(static_cast<Index>(scales.size()), n);
    for (double const scale : scales) {
        ASSERT_TRUE(std::isfinite(scale));
        ASSERT_GE(scale, 0x1p-1001);
        ASSERT_LE(scale, 0x1p1001);
    }
}

/// Checks everything but the scaled values, which clamping may change.
template <class T> void expect_matching(Matching const& matching, CscMatrix<T> const& a) {
    expect_usable(matching.row_scale, a.rows);
    expect_usable(matching.column_scale, a.cols);
    ASSERT_EQ(static_cast<Index>(matching.row_of_column.size()), a.cols);
    std::vector<char> taken(a.rows, 0);
    Index matched = 0, matched_nonzeros = 0;
    for (Index const row : matching.row_of_column) {
        if (row == -1) continue;
        ASSERT_TRUE(row >= 0 && row < a.rows);
        ASSERT_FALSE(taken[row]) << "row " << row << " is matched twice";
        taken[row] = 1;
        ++matched;
    }
    for_each_nonzero(a, [&](Index i, Index j, auto) { matched_nonzeros += matching.row_of_column[j] == i; });
    EXPECT_EQ(matched, matching.structural_rank);
    EXPECT_EQ(matched, matched_nonzeros) << "a position without a nonzero is matched";
}

/// After rounding, scaled moduli are at most 1, and 1 on the matching; the largest of each nonempty row and
/// column is 1. With one step, the scales are powers of two.
template <class T> void expect_certified(Matching const& matching, CscMatrix<T> const& a, int steps = 1) {
    ASSERT_NO_FATAL_FAILURE(expect_matching(matching, a));
    std::vector<double> row_maxima(a.rows, 0), column_maxima(a.cols, 0);
    for_each_nonzero(a, [&](Index i, Index j, auto value) {
        double const scaled = std::abs(scaled_value(value, matching.row_scale[i], matching.column_scale[j]));
        ASSERT_LE(scaled, rounded_up(steps)) << "row " << i << ", column " << j;
        if (matching.row_of_column[j] == i) {
            ASSERT_GE(scaled, rounded_down(steps));
        }
        row_maxima[i] = std::max(row_maxima[i], scaled);
        column_maxima[j] = std::max(column_maxima[j], scaled);
    });
    for (double const maximum : row_maxima) ASSERT_TRUE(maximum == 0 || maximum >= rounded_down(steps));
    for (double const maximum : column_maxima) ASSERT_TRUE(maximum == 0 || maximum >= rounded_down(steps));
    if (steps > 1) return;
    for (auto const* scales : {&matching.row_scale, &matching.column_scale})
        for (double const scale : *scales) ASSERT_EQ(std::exp2(std::ilogb(scale)), scale);
}

template <class T> void expect_as_exhaustive(Matching const& matching, CscMatrix<T> const& a, int steps = 1) {
    EXPECT_EQ(matching.structural_rank, largest_size(best_by_row_set(a, std::vector<char>(a.cols, 1))));
    std::size_t rows = 0;
    std::vector<char> columns(a.cols, 0);
    double sum = 0;
    for_each_nonzero(a, [&](Index i, Index j, auto value) {
        if (matching.row_of_column[j] != i) return;
        rows |= std::size_t(1) << i;
        columns[j] = 1;
        sum += exponent_of(value, steps);
    });
    EXPECT_EQ(sum, best_by_row_set(a, columns, steps)[rows]);
}

/// A cyclic shift of rows in which the only augmenting path goes through all columns.
CscMatrix<double> staircase(Index n) {
    std::vector<std::vector<std::pair<Index, double>>> columns(n);
    for (Index j = 0; j + 1 < n; ++j) columns[j] = {{j, 1.0}, {j + 1, 1.0}};
    columns[n - 1] = {{0, 1.0}};
    return from_columns(n, std::move(columns));
}

} // namespace

TYPED_TEST(MatchingOf, TinyMatrixEqualsExhaustiveSearch) {
    unsigned seed = 0;
    Index singular = 0;
    for (Symmetry const symmetry : all_symmetries)
        for (Index n = 1; n <= 7; ++n)
            for (double const density : {0.15, 0.3, 0.5, 0.9})
                for (int repeat = 0; repeat < 12; ++repeat) {
                    auto const a = random_matrix<TypeParam>(n, n, symmetry, density, ++seed);
                    int const steps = repeat % 2 ? 1 : 16;
                    auto const matching = maximum_product_matching(a, steps);
                    SCOPED_TRACE(testing::Message() << "seed " << seed);
                    expect_certified(matching, a, steps);
                    expect_as_exhaustive(matching, a, steps);
                    if (matching.structural_rank < n) ++singular;
                    if (testing::Test::HasFailure()) return;
                }
    EXPECT_GT(singular, 100) << "the sample should have structurally singular matrices";
}

TYPED_TEST(MatchingOf, TinyMatrixWithEqualModuliHasTheLargestSize) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        auto a = random_matrix<TypeParam>(7, 7, Symmetry::general, 0.25, seed);
        std::fill(a.values.begin(), a.values.end(), TypeParam(-3));
        auto const matching = maximum_product_matching(a);
        expect_certified(matching, a);
        expect_as_exhaustive(matching, a);
    }
}

TYPED_TEST(MatchingOf, RandomMatrixIsScaledToNearlyOneOnTheMatching) {
    for (Symmetry const symmetry : all_symmetries)
        for (double const density : {0.004, 0.01, 0.05}) {
            auto const a = random_matrix<TypeParam>(300, 300, symmetry, density, 77);
            expect_certified(maximum_product_matching(a), a);
            expect_certified(maximum_product_matching(a, 40), a, 40);
        }
}

TYPED_TEST(MatchingOf, EmptyAndOneByOneMatrices) {
    auto const none = maximum_product_matching(CscMatrix<TypeParam>{});
    EXPECT_EQ(none.structural_rank, 0);
    EXPECT_TRUE(none.row_of_column.empty());
    auto const zero = maximum_product_matching(from_columns<TypeParam>(1, {{}}));
    EXPECT_EQ(zero.row_of_column, std::vector<Index>{-1});
    EXPECT_EQ(zero.row_scale, std::vector<double>{1});
    EXPECT_EQ(zero.column_scale, std::vector<double>{1});
    auto const one = maximum_product_matching(from_columns<TypeParam>(1, {{{0, TypeParam(-4)}}}));
    EXPECT_EQ(one.row_of_column, std::vector<Index>{0});
    EXPECT_DOUBLE_EQ(one.row_scale[0] * one.column_scale[0], 0.25);
}

TEST(Matching, FindsThePermutationOfADominantMatrix) {
    Index const n = 500;
    auto a = random_sparse(n, 6, 0, 3); // All entries 1.
    SplitMix64 random(4);
    std::vector<Index> row_of_column(n);
    std::iota(row_of_column.begin(), row_of_column.end(), Index(0));
    for (Index j = n - 1; j > 0; --j) std::swap(row_of_column[j], row_of_column[random.below(j + 1)]);
    std::vector<std::vector<std::pair<Index, double>>> columns(n);
    for (Index j = 0; j < n; ++j) {
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k)
            if (a.row_ind[k] != row_of_column[j]) columns[j].emplace_back(a.row_ind[k], 1.0);
        columns[j].emplace_back(row_of_column[j], 1.5);
        std::sort(columns[j].begin(), columns[j].end());
    }
    auto const matching = maximum_product_matching(from_columns(n, std::move(columns)));
    EXPECT_EQ(matching.row_of_column, row_of_column);
}

TEST(Matching, IgnoresExplicitZeros) {
    auto const a = from_columns<double>(2, {{{0, 0.0}, {1, 2.0}}, {{0, 4.0}, {1, 0.0}}});
    auto const matching = maximum_product_matching(a);
    EXPECT_EQ(matching.row_of_column, (std::vector<Index>{1, 0}));
    expect_certified(matching, a);
    auto const singular = from_columns<double>(2, {{{0, 5.0}, {1, 0.0}}, {{0, 4.0}, {1, 0.0}}});
    EXPECT_EQ(maximum_product_matching(singular).structural_rank, 1);
    expect_certified(maximum_product_matching(singular), singular);
}

TEST(Matching, ExtremeRowsAndColumnsAreScaledBack) {
    auto a = random_sparse(400, 5, 1, 11);
    SplitMix64 random(12);
    std::vector<double> rows(400), columns(400);
    for (double& row : rows) row = std::pow(10.0, random.uniform(-100, 100));
    for (double& column : columns) column = std::pow(10.0, random.uniform(-100, 100));
    for_each_entry(a, [&](Index i, Index j, Offset k) { a.values[k] *= rows[i] * columns[j]; });
    expect_certified(maximum_product_matching(a), a);
}

TEST(Matching, ExtremeEntriesKeepScalesFinite) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto const tiny = random_sparse(4, 3, 150, seed);
        expect_certified(maximum_product_matching(tiny), tiny);
        auto const wild = random_sparse(200, 4, 200, seed);
        expect_matching(maximum_product_matching(wild), wild);
    }
}

TEST(Matching, ScalesThatMustOverflowAreClamped) {
    // The only perfect matching is the diagonal, and r_0 1e200 <= r_1, r_1 1e200 <= r_2, ...
    std::vector<std::vector<std::pair<Index, double>>> columns{{{0, 1.0}}};
    for (Index j = 1; j < 50; ++j) columns.push_back({{j - 1, 1e200}, {j, 1.0}});
    auto const a = from_columns(50, std::move(columns));
    auto const matching = maximum_product_matching(a);
    ASSERT_NO_FATAL_FAILURE(expect_matching(matching, a));
    for (Index j = 0; j < 50; ++j) EXPECT_EQ(matching.row_of_column[j], j);
}

TEST(Matching, ShiftsScalesToAvoidClamping) {
    // The scales of the rows span 1e400, half of it above 1 and half below.
    auto const a = from_columns<double>(3, {{{0, 1.0}}, {{0, 1e200}, {1, 1.0}}, {{1, 1e200}, {2, 1.0}}});
    expect_certified(maximum_product_matching(a), a);
}

TEST(Matching, AcceptsTheExtremeNumbersOfEachType) {
    double const largest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::min();
    std::complex<double> const corner(largest, -largest); // Its modulus is not a double.
    auto const a = from_columns<std::complex<double>>(2, {{{0, corner}, {1, 1.0}}, {{0, 1.0}, {1, least}}});
    auto const matching = maximum_product_matching(a);
    ASSERT_NO_FATAL_FAILURE(expect_matching(matching, a));
    EXPECT_EQ(matching.row_of_column, (std::vector<Index>{0, 1})); // sqrt(2) * 4 > 1
    double const scaled = std::abs(scaled_value(corner, matching.row_scale[0], matching.column_scale[0]));
    EXPECT_GE(scaled, rounded_down(1));
    EXPECT_LE(scaled, rounded_up(1));

    auto const subnormal = from_columns<double>(1, {{{0, 5e-324}}});
    expect_matching(maximum_product_matching(subnormal), subnormal);
}

TEST(Matching, LongAugmentingPathNeedsNoDeepStack) {
    auto const a = staircase(200'000);
    auto const matching = maximum_product_matching(a);
    EXPECT_EQ(matching.structural_rank, a.cols);
    expect_certified(matching, a);
}

TEST(Matching, CertifiesAMatrixWithManyUnmatchedColumns) {
    // Every other column has entries only in a small part of the rows; each of about 15000 failing searches
    // would visit this part again.
    Index const n = 60'000;
    auto const a = random_sparse(n, 5, 2, 5, [&](Index j) { return j % 2 ? n / 4 : n; });
    auto const matching = maximum_product_matching(a);
    EXPECT_LE(matching.structural_rank, 3 * n / 4);
    EXPECT_GE(matching.structural_rank, 7 * n / 10);
    expect_certified(matching, a);
}

/// The equations of a flow on a staggered grid: velocities on the edges of side x side cells, with random
/// coefficients of transport, and a pressure in each cell with a weak diagonal.
CscMatrix<double> flow(Index side, std::uint64_t seed) {
    SplitMix64 random(seed);
    Index const edges = side * (side - 1), n = 2 * edges + side * side;
    std::vector<std::vector<std::pair<Index, double>>> columns(n);
    auto const pressure = [&](Index x, Index y) { return 2 * edges + x + y * side; };
    for (Index axis = 0; axis < 2; ++axis) {
        Index const width = side - (axis == 0), height = side - (axis == 1);
        auto const velocity = [&](Index x, Index y) { return axis * edges + x + y * width; };
        for (Index y = 0; y < height; ++y)
            for (Index x = 0; x < width; ++x) {
                Index const v = velocity(x, y);
                auto const couple = [&](Index i, double value) { columns[v].emplace_back(i, value); };
                couple(v, 0.1);
                if (x > 0) couple(velocity(x - 1, y), random.uniform(-0.3, 0.3));
                if (x + 1 < width) couple(velocity(x + 1, y), random.uniform(-0.3, 0.3));
                if (y > 0) couple(velocity(x, y - 1), random.uniform(-0.3, 0.3));
                if (y + 1 < height) couple(velocity(x, y + 1), random.uniform(-0.3, 0.3));
                for (double const sign : {-1.0, 1.0}) {
                    Index const next = sign > 0 ? 1 : 0;
                    Index const cell = axis == 0 ? pressure(x + next, y) : pressure(x, y + next);
                    couple(cell, sign);
                    columns[cell].emplace_back(v, sign);
                }
            }
    }
    for (Index cell = 2 * edges; cell < n; ++cell) columns[cell].emplace_back(cell, 1e-8);
    for (auto& column : columns) std::sort(column.begin(), column.end());
    return from_columns(n, std::move(columns));
}

TEST(Matching, CertifiesTheEquationsOfFlows) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        auto const a = flow(40, seed);
        auto const matching = maximum_product_matching(a);
        EXPECT_EQ(matching.structural_rank, a.cols);
        expect_certified(matching, a);
    }
    auto singular = flow(40, 4); // the first hundred columns are empty
    std::fill(singular.values.begin(), singular.values.begin() + singular.col_ptr[100], 0.0);
    expect_certified(maximum_product_matching(singular), singular);
}

TEST(Matching, CertifiesGeneratedMatrices) {
    for (char const* spec :
         {"convdiff3d:6", "spe10like:10x10x4", "saddle3d:6", "helmholtz3d:8", "hermitian3d:6"})
        std::visit(
            [&](auto const& a) {
                SCOPED_TRACE(spec);
                auto const matching = maximum_product_matching(a);
                EXPECT_EQ(matching.structural_rank, a.cols);
                expect_certified(matching, a);
            },
            generate_matrix(spec).matrix);
}

TYPED_TEST(MatchingOf, SymmetricScalingKeepsSymmetryAndBoundsEntries) {
    for (Symmetry const symmetry : {Symmetry::symmetric, Symmetry::hermitian})
        for (double const density : {0.02, 0.1}) {
            auto const a = random_matrix<TypeParam>(120, 120, symmetry, density, 9);
            auto const matching = maximum_product_matching(a);
            auto const scale = symmetric_scaling(matching);
            expect_usable(scale, 120);
            bool const perfect = matching.structural_rank == 120;
            for_each_nonzero(a, [&](Index i, Index j, auto value) {
                double const scaled = std::abs(scaled_value(value, scale[i], scale[j]));
                ASSERT_LE(scaled, rounded_up(1));
                if (perfect && matching.row_of_column[j] == i) {
                    ASSERT_GE(scaled, rounded_down(1));
                }
            });
        }
}

TEST(Matching, RejectsMatricesWithoutAMatching) {
    std::string message;
    CscMatrix<double> wide = from_columns<double>(2, {{}, {}, {}});
    EXPECT_EQ(status_of([&] { maximum_product_matching(wide); }, &message), Status::bad_input);
    EXPECT_NE(message.find("2 x 3"), std::string::npos) << message;
    double const bad[] = {std::nan(""), -std::numeric_limits<double>::infinity()};
    for (double const value : bad) {
        auto const a = from_columns<double>(2, {{{0, 1.0}}, {{1, value}}});
        EXPECT_EQ(status_of([&] { maximum_product_matching(a); }, &message), Status::bad_input);
        EXPECT_NE(message.find("row 1, column 1"), std::string::npos) << message;
    }
}

TEST(ScaledValue, HasNoIntermediateOverflowOrUnderflow) {
    EXPECT_DOUBLE_EQ(scaled_value(1e-300, 1e290, 1e10), 1.0);
    EXPECT_DOUBLE_EQ(scaled_value(-1e300, 1e-290, 1e-10), -1.0);
    EXPECT_DOUBLE_EQ(scaled_value(2.0, 1e-300, 1e300), 2.0);
    EXPECT_DOUBLE_EQ(scaled_value(1e-200, 1e300, 1e-100), 1.0);
    EXPECT_EQ(scaled_value(0.0, 1e300, 1e300), 0.0);
    EXPECT_FLOAT_EQ(scaled_value(1e-30f, 1e200, 1e-170), 1.0f);
    auto const z = scaled_value(std::complex<double>(1e-300, -1e-290), 1e200, 1e90);
    EXPECT_DOUBLE_EQ(z.real(), 1e-10);
    EXPECT_DOUBLE_EQ(z.imag(), -1.0);
}
