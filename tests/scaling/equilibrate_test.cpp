#include <limits>

#include <gtest/gtest.h>

#include "scaling/equilibrate.hpp"
#include "scaling/matching.hpp"
#include "scaling/scaling_checks.hpp"

using namespace espalier;
using namespace espalier::test;

namespace {

template <class T> class EquilibrateOf : public testing::Test {};
TYPED_TEST_SUITE(EquilibrateOf, Scalars);

bool is_power_of_two(double value) {
    int exponent = 0;
    return std::frexp(value, &exponent) == 0.5 && exponent >= -999 && exponent <= 1001;
}

template <class T> void expect_equilibrated(Scaling const& scaling, CscMatrix<T> const& a) {
    ASSERT_EQ(static_cast<Index>(scaling.row_scale.size()), a.rows);
    ASSERT_EQ(static_cast<Index>(scaling.column_scale.size()), a.cols);
    std::vector<double> row_maxima(a.rows, 0), column_maxima(a.cols, 0);
    for_each_nonzero(a, [&](Index i, Index j, auto value) {
        double const scaled = std::abs(scaled_value(value, scaling.row_scale[i], scaling.column_scale[j]));
        row_maxima[i] = std::max(row_maxima[i], scaled);
        column_maxima[j] = std::max(column_maxima[j], scaled);
    });
    auto const check = [](std::vector<double> const& scales, std::vector<double> const& maxima) {
        for (std::size_t i = 0; i < scales.size(); ++i) {
            ASSERT_TRUE(is_power_of_two(scales[i])) << scales[i];
            if (maxima[i] == 0) {
                ASSERT_EQ(scales[i], 1);
            } else {
                ASSERT_GE(maxima[i], 0.25);
                ASSERT_LE(maxima[i], 4);
            }
        }
    };
    check(scaling.row_scale, row_maxima);
    check(scaling.column_scale, column_maxima);
}

} // namespace

// A grid with random scales of rows and columns regains entries of similar size.
TEST(Equilibrate, FindsTheScalesOfAGrid) {
    Index const side = 40, n = side * side;
    CscMatrix<double> a{n, n, Symmetry::general, {0}, {}, {}};
    SplitMix64 random(5);
    std::vector<int> row(n), column(n);
    for (auto* const exponents : {&row, &column})
        for (int& exponent : *exponents) exponent = static_cast<int>(random.uniform(-100, 100));
    for (Index j = 0; j < n; ++j) {
        for (Index const i : {j - side, j - 1, j, j + 1, j + side}) {
            bool const is_neighbor = i >= 0 && i < n && (i / side == j / side || i % side == j % side);
            if (!is_neighbor) continue;
            a.row_ind.push_back(i);
            a.values.push_back(std::ldexp(i == j ? 4 : -1, row[i] + column[j]));
        }
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    auto const scaling = equilibrate(a);
    expect_equilibrated(scaling, a);
    for_each_nonzero(a, [&](Index i, Index j, auto value) {
        double const scaled = std::abs(scaled_value(value, scaling.row_scale[i], scaling.column_scale[j]));
        EXPECT_GE(scaled, 1.0 / 16);
    });
}

TYPED_TEST(EquilibrateOf, RandomMatrixHasMaximaAboutOne) {
    for (Symmetry const symmetry : all_symmetries)
        for (double const density : {0.01, 0.1}) {
            auto a =
                random_matrix<TypeParam>(symmetry == Symmetry::general ? 80 : 100, 100, symmetry, density, 3);
            SplitMix64 random(4);
            for (auto& value : a.values)
                value *= static_cast<Real<TypeParam>>(std::pow(10.0, random.uniform(-15, 15)));
            auto const scaling = equilibrate(a);
            expect_equilibrated(scaling, a);
            if (symmetry != Symmetry::general) {
                EXPECT_EQ(scaling.row_scale, scaling.column_scale);
            }
        }
}

TEST(Equilibrate, ExtremeEntriesStayInRange) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        auto const a = random_sparse(300, 4, 200, seed);
        expect_equilibrated(equilibrate(a), a);
    }
    auto const extreme = from_columns<double>(2, {{{0, std::numeric_limits<double>::max()}}, {{1, 5e-324}}});
    expect_equilibrated(equilibrate(extreme), extreme);
}

TEST(Equilibrate, LeavesAnEquilibratedMatrixAlone) {
    auto const a = from_columns<double>(2, {{{0, 1.0}, {1, 0.5}}, {{0, 0.25}, {1, -1.0}}});
    EXPECT_EQ(equilibrate(a).row_scale, (std::vector<double>{1, 1}));
    EXPECT_EQ(equilibrate(a).column_scale, (std::vector<double>{1, 1}));
}

TEST(Equilibrate, RowsAndColumnsOfZerosKeepScaleOne) {
    auto const a = from_columns<double>(3, {{{0, 1e9}, {1, 0.0}}, {{1, 0.0}}, {}});
    expect_equilibrated(equilibrate(a), a);
    EXPECT_TRUE(equilibrate(CscMatrix<double>{}).row_scale.empty());
}

TEST(Equilibrate, RejectsNanWithItsPosition) {
    std::string message;
    auto const a = from_columns<double>(2, {{{1, std::nan("")}}, {}});
    EXPECT_EQ(status_of([&] { equilibrate(a); }, &message), Status::bad_input);
    EXPECT_NE(message.find("row 1, column 0"), std::string::npos) << message;
}
