#include "incomplete/diagonal_elimination.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <random>
#include <vector>

#include "common/matrices.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "matrix/convert.hpp"

namespace espalier {
namespace {

template <class T> class EliminationInTwoColors : public testing::Test {};
using ScalarTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(EliminationInTwoColors, ScalarTypes);

constexpr Index num_rows = 90;
constexpr Index corners = 3; ///< Rows behind the others.

/// A matrix whose first `num_rows` rows have two colors and about four neighbors of the other color. The last
/// rows are neighbors of each other if `has_triangle`, and then elimination would change more than the
/// pivots. Every tenth diagonal entry is `tiny`.
template <class T> CscMatrix<T> two_colors(Symmetry symmetry, bool has_triangle, double tiny) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    auto const number = [&] {
        T value(static_cast<Real<T>>(uniform(random)));
        if constexpr (is_complex<T>) value += T(0, static_cast<Real<T>>(uniform(random)));
        return value;
    };
    std::vector<int> color(num_rows);
    for (int& of_row : color) of_row = static_cast<int>(random() % 2);
    constexpr Index n = num_rows + corners;
    std::vector<T> values(n * n, T(0));
    for (Index j = 0; j < num_rows; ++j)
        for (Index i = j + 1; i < num_rows; ++i)
            if (color[i] != color[j] && random() % num_rows < 8) {
                values[i + j * n] = number();
                values[j + i * n] = number();
            }
    for (Index i = 0; i < n; ++i) values[i + i * n] = T(static_cast<Real<T>>(i % 10 == 4 ? tiny : 6));
    for (Index i = num_rows; i < n && has_triangle; ++i)
        for (Index j = num_rows; j < n; ++j)
            if (i != j) values[i + j * n] = T(1);
    return matrix_of<T>(n, symmetry, [&](Index i, Index j) { return values[i + j * n]; });
}

struct Solved {
    Index replaced;
    double shift;
    bool operator==(Solved const&) const = default;
};

template <class T> Solved solve(CscMatrix<T> const& a, int workers, std::vector<Index> const& positions,
                                PivotDemand const& pivots, std::vector<T>& x) {
    WorkerTeam team(Topology::detect(), workers);
    IncompleteFactor<T> factor(a, {.coarse_string = workers > 1 ? "F(9)" : "", .positions = positions}, team);
    auto const done = factor.factorize(a, pivots);
    x.resize(a.rows);
    for (Index i = 0; i < a.rows; ++i) x[i] = T(static_cast<Real<T>>(1 + i % 5));
    factor.solve(x.data(), x.data());
    x.resize(num_rows);
    return {done.replaced, done.shift};
}

TYPED_TEST(EliminationInTwoColors, HasTheBitsOfTheGeneralFactorization) {
    using T = TypeParam;
    std::vector<Index> shuffled(num_rows + corners);
    std::iota(shuffled.begin(), shuffled.end(), Index(0));
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(7));
    PivotDemand const pivots{.threshold = 1e-4, .max_restarts = 3};
    for (Symmetry const symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::hermitian})
        for (double const tiny : {2.0, 1e-9, 0.0}) {
            auto const a = two_colors<T>(symmetry, false, tiny);
            auto const b = two_colors<T>(symmetry, true, tiny);
            ASSERT_TRUE(is_bipartite(block_pattern(a, 1, shuffled)));
            ASSERT_FALSE(is_bipartite(block_pattern(b, 1, shuffled)));
            for (auto const& positions : {std::vector<Index>(), shuffled})
                for (int const workers : {1, 3}) {
                    std::vector<T> x, expected;
                    auto const done = solve(a, workers, positions, pivots, x);
                    EXPECT_EQ(done, solve(b, workers, positions, pivots, expected));
                    EXPECT_EQ(x, expected) << workers << " workers, diagonal entry " << tiny;
                    if (tiny == 0) {
                        EXPECT_GT(done.replaced, 0);
                    }
                }
        }
}

TYPED_TEST(EliminationInTwoColors, IsTheCompleteFactorizationOfATree) {
    using T = TypeParam;
    // Each row has one neighbor with a higher number, so elimination makes no fill.
    auto const tree = [](Index i, Index j) {
        return i == j ? 5.0 : j == (i + num_rows) / 2 + 1 ? 1.0 + 0.01 * static_cast<double>(i) : 0.0;
    };
    auto const a = matrix_of<T>(num_rows, Symmetry::general, [&](Index i, Index j) {
        return T(static_cast<Real<T>>(i <= j ? tree(i, j) : -tree(j, i)));
    });
    for (int const workers : {1, 2}) {
        std::vector<T> x;
        EXPECT_EQ(solve(a, workers, {}, {}, x).replaced, 0);
        std::vector<T> b(num_rows, T(0));
        for (Index j = 0; j < num_rows; ++j)
            for (Offset const p : a.entries_of(j)) b[a.row_ind[p]] += a.values[p] * x[j];
        for (Index i = 0; i < num_rows; ++i)
            EXPECT_LT(std::abs(b[i] - T(static_cast<Real<T>>(1 + i % 5))), 100 * epsilon<T>);
    }
}

TEST(DiagonalElimination, NeedsNoMemoryForACurrentRow) {
    auto const bytes = [](bool has_triangle, int workers) {
        WorkerTeam team(Topology::detect(), workers);
        return IncompleteFactor<double>(two_colors<double>(Symmetry::general, has_triangle, 6),
                                        {.coarse_string = "F(9)"}, team)
            .sizes()
            .bytes;
    };
    constexpr auto row = (num_rows + corners) * sizeof(double);
    EXPECT_NEAR(static_cast<double>(bytes(false, 3) - bytes(false, 1)), 0, row / 2);
    EXPECT_NEAR(static_cast<double>(bytes(true, 3) - bytes(true, 1)), 2 * row, row / 2);
}

} // namespace
} // namespace espalier
