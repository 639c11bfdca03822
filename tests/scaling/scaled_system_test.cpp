#include "scaling/scaled_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/matrices.hpp"
#include "core/status_of.hpp"
#include "generators/generators.hpp"
#include "matrix/entries.hpp"
#include "matrix/spmv.hpp"

namespace espalier {
namespace {

CscMatrix<double> dense(std::vector<std::vector<double>> const& rows) {
    Index const n = std::ssize(rows);
    return build_columns<double>(n, n, Symmetry::general, [&](auto const& put) {
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i)
                if (rows[i][j] != 0) put(i, j, rows[i][j]);
    });
}

CscMatrix<double> badly_scaled() {
    return dense({{0, 4, 0}, {0, 1e-9, 2e6}, {1e-4, 0, 3}});
}

TEST(ScaledSystem, LeavesAWellScaledMatrixAlone) {
    auto const lap = std::get<CscMatrix<double>>(generate_matrix("lap2d:5").matrix);
    EXPECT_TRUE(ScaledSystem<double>(lap, {.kind = Factorization::llh}).is_identity());
    EXPECT_TRUE(ScaledSystem<double>(lap, {.kind = Factorization::ldlt}).is_identity());
    EXPECT_FALSE(
        ScaledSystem<double>(lap, {.kind = Factorization::lu}).is_identity()); // lu needs both triangles
    EXPECT_FALSE(ScaledSystem<double>(lap, {.kind = Factorization::lu}).is_scaled());
}

TEST(ScaledSystem, MovesTheMatchedEntriesToTheDiagonal) {
    auto const a = badly_scaled();
    ScaledSystem<double> const system(a, {.kind = Factorization::lu});
    ASSERT_TRUE(system.is_permuted());
    auto const b = system.apply(a);
    b.validate();
    for (Index j = 0; j < 3; ++j) {
        double diagonal = 0, largest = 0;
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p) {
            double const value = std::abs(b.values[p]);
            largest = std::max(largest, value);
            if (b.row_ind[p] == j) diagonal = value;
        }
        EXPECT_GE(diagonal, 0.5); // 1, up to the rounding of scales to powers of two
        EXPECT_LE(largest, 2);
    }
}

// In double, products of several entries of 1e20 do not overflow, but in float they do.
TEST(ScaledSystem, ScalesUniformEntriesOnlyIfTheirProductsWouldOverflow) {
    auto const is_scaled = []<class T>(T entry) {
        auto const a = matrix_of<T>(3, Symmetry::symmetric, [=](Index, Index) { return entry; });
        return ScaledSystem<T>(a, {.kind = Factorization::ldlt, .matching = Toggle::off}).is_scaled();
    };
    EXPECT_FALSE(is_scaled(1e20));
    EXPECT_TRUE(is_scaled(1e110));
    EXPECT_TRUE(is_scaled(1e-110));
    EXPECT_FALSE(is_scaled(1e10F));
    EXPECT_TRUE(is_scaled(1e20F));
    EXPECT_TRUE(is_scaled(1e-20F));
}

TEST(ScaledSystem, IsEquivalentToTheOriginalSystem) {
    // A x = b  <=>  B y = P R b with x = C y.
    auto const a = badly_scaled();
    ScaledSystem<double> const system(a, {.kind = Factorization::lu});
    std::vector<double> const x{3, -2, 0.5, 1, 2, 3}; // two columns
    std::vector<double> b(6), left(6);
    multiply<double>(MatrixOp::none, 1.0, a, x, 0.0, b, 2);
    system.to_working(b, 2);
    std::vector<double> y = x;
    system.solution_to_working(y, 2);
    multiply<double>(MatrixOp::none, 1.0, system.apply(a), y, 0.0, left, 2);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(left[i], b[i], 1e-15 * std::abs(b[i]));
    system.from_working(y, 2);
    EXPECT_EQ(y, x);
}

TEST(ScaledSystem, AccessorsDescribeTheWorkingMatrix) {
    auto const a = badly_scaled();
    ScaledSystem<double> const system(a, {.kind = Factorization::lu});
    auto const b = system.apply(a);
    std::map<std::pair<Index, Index>, double> entries;
    for_each_entry(b, [&](Index i, Index j, Offset p) { entries[{i, j}] = b.values[p]; });
    for_each_entry(a, [&](Index i, Index j, Offset p) {
        double const scaled = system.row_scale(i) * a.values[p] * system.column_scale(j);
        EXPECT_EQ((entries[{system.row_place(i), j}]), scaled);
    });
    // P is the cyclic permutation of three rows, which is even.
    EXPECT_FALSE(system.odd());
    double log_scales = 0;
    for (Index i = 0; i < 3; ++i) log_scales += std::log(system.row_scale(i) * system.column_scale(i));
    EXPECT_NEAR(system.log_factor(), -log_scales, 1e-12);
}

TEST(ScaledSystem, LeavesSchurUnknownsAlone) {
    auto const a = dense({{0, 0, 4}, {0, 1, 1e6}, {1e-4, 1e6, 0}});
    std::vector<Index> const schur{1};
    ScaledSystem<double> const system(a, {.kind = Factorization::lu, .schur = schur});
    ASSERT_TRUE(system.is_permuted());
    EXPECT_EQ(system.choice().row_place, (std::vector<Index>{2, 1, 0}));
    EXPECT_TRUE(system.odd());
    EXPECT_EQ(system.row_scale(1), 1.0);
    EXPECT_EQ(system.column_scale(1), 1.0);
}

TEST(ScaledSystem, RescalesForValuesOfAnotherSize) {
    auto a = badly_scaled();
    ScaledSystem<double> system(a, {.kind = Factorization::lu});
    auto b = system.apply(a);
    auto const unchanged = b.values;
    EXPECT_FALSE(system.is_out_of_scale(a, b));
    EXPECT_EQ(b.values, unchanged);
    for (Offset p : a.entries_of(2)) a.values[p] *= 1e9;
    b = system.apply(a);
    EXPECT_TRUE(system.is_out_of_scale(a, b));
    b = system.rescale(a);
    EXPECT_EQ(b.values, system.apply(a).values);
    EXPECT_LE(std::abs(*std::max_element(b.values.begin(), b.values.end())), 256);
}

// No scales are needed for the first values, because they would be uniform.
TEST(ScaledSystem, AdaptsUniformScales) {
    auto a = matrix_from(Symmetry::general, {{400, 100, 0}, {100, 400, 100}, {0, 100, 400}});
    ScaledSystem<double> system(a, {.kind = Factorization::lu});
    ASSERT_FALSE(system.is_scaled());
    EXPECT_FALSE(system.is_out_of_scale(a, system.apply(a)));
    scale_values(a,
                 [](Index i, Index j) { return std::ldexp(1.0, (i == 1 ? 200 : 0) - (j == 2 ? 100 : 0)); });
    EXPECT_TRUE(system.is_out_of_scale(a, system.apply(a)));
    auto const b = system.rescale(a);
    EXPECT_TRUE(system.is_scaled());
    EXPECT_EQ(b.values, system.apply(a).values);
    EXPECT_FALSE(system.is_out_of_scale(a, b));
    auto const determinant = b.values[0] * b.values[3] * b.values[6];
    EXPECT_GT(std::abs(determinant), 1e-3);
    // Cholesky has no scales by default.
    ScaledSystem<double> const unscaled(a, {.kind = Factorization::llh});
    EXPECT_FALSE(unscaled.is_out_of_scale(a, unscaled.apply(a)));
}

TEST(ScaledSystem, AdaptsScalesWithWhichEntriesUnderflow) {
    auto a = badly_scaled();
    scale_values(a, [](Index, Index) { return 0x1p600; });
    ScaledSystem<double> system(a, {.kind = Factorization::lu});
    ASSERT_TRUE(system.is_scaled());
    scale_values(a, [](Index, Index) { return 0x1p-1000; });
    scale_values(a, [](Index, Index) { return 0x1p-200; });
    auto b = system.apply(a);
    ASSERT_TRUE(std::ranges::all_of(b.values, [](double value) { return value == 0; }));
    EXPECT_TRUE(system.is_out_of_scale(a, b));
    b = system.rescale(a);
    EXPECT_FALSE(system.is_out_of_scale(a, b));
    EXPECT_TRUE(std::ranges::none_of(b.values, [](double value) { return value == 0; }));
    // Rows of zeros have no scale.
    std::ranges::fill(a.values, 0.0);
    EXPECT_FALSE(system.is_out_of_scale(a, system.apply(a)));
}

TEST(ScaledSystem, FollowsNewValuesCloselyInSinglePrecision) {
    auto a = matrix_from<float>(Symmetry::general, {{4, 1, 0}, {1, 64, 1}, {0, 1, 1000}});
    ScaledSystem<float> system(a, {.kind = Factorization::lu, .matching = Toggle::off});
    for (Offset p : a.entries_of(2)) a.values[p] *= 64;
    auto b = system.apply(a);
    EXPECT_TRUE(system.is_out_of_scale(a, b));
    b = system.rescale(a);
    EXPECT_EQ(b.values, system.apply(a).values);
    for (float const value : b.values) EXPECT_LE(std::abs(value), 16);
}

// Starting from the old scales, the last row would have the only large entries of the first two columns.
TEST(ScaledSystem, DoesNotStartFromOldScales) {
    auto a = matrix_from(Symmetry::general, {{1, 2, 1}, {2, 1, -1}, {0x1p-33, -0x1p-33, 0}});
    ScaledSystem<double> system(a, {.kind = Factorization::lu, .matching = Toggle::off});
    scale_values(a, [](Index i, Index) { return i == 2 ? 0x1p33 : 1.0; });
    auto b = system.apply(a);
    EXPECT_TRUE(system.is_out_of_scale(a, b));
    b = system.rescale(a);
    EXPECT_EQ(b.values, system.apply(a).values);
    for (Index i = 0; i < 3; ++i) {
        EXPECT_LE(std::abs(std::log2(system.row_scale(i))), 2) << i;
        EXPECT_LE(std::abs(std::log2(system.column_scale(i))), 2) << i;
    }
}

TEST(ScaledSystem, ScalesTheInteriorOfASchurComplementAnew) {
    auto a = matrix_from(Symmetry::general, {{4, 1, 0, 2}, {1, 64, 1, 0}, {0, 1, 1000, 1}, {2, 0, 1, 1e30}});
    std::vector<Index> const schur{3};
    ScaledSystem<double> system(a, {.kind = Factorization::lu, .matching = Toggle::off, .schur = schur});
    auto b = system.apply(a);
    EXPECT_FALSE(system.is_out_of_scale(a, b, schur));
    scale_values(a, [](Index i, Index j) { return i == 1 || j == 1 ? 0x1p40 : 1.0; });
    b = system.apply(a);
    EXPECT_TRUE(system.is_out_of_scale(a, b, schur));
    b = system.rescale(a, schur);
    EXPECT_EQ(b.values, system.apply(a).values);
    for (Index j = 0; j < 3; ++j)
        for (Offset p : b.entries_of(j)) EXPECT_TRUE(b.row_ind[p] == 3 || std::abs(b.values[p]) <= 256);
    EXPECT_EQ(system.row_scale(3), 1);
    EXPECT_EQ(b.values.back(), 1e30);
}

TEST(ScaledSystem, NamesTheStructuralRank) {
    auto const a = dense({{1, 1, 1}, {0, 0, 1}, {0, 0, 1}});
    std::string message;
    auto const choose = [&] { ScaledSystem<double> const system(a, {.kind = Factorization::lu}); };
    EXPECT_EQ(status_of(choose, &message), Status::singular);
    EXPECT_NE(message.find("structural rank is 2 of 3"), std::string::npos) << message;
}

} // namespace
} // namespace espalier
