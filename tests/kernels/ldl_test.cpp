// A(p, p) = L D L^H and L D L^T with 1x1 and 2x2 pivots: residuals, inertia against eigenvalues of LAPACK,
// replacement of small pivots, and the operations with D and with the panel below.
#include <numeric>

#include "common/eigenvalues.hpp"
#include "kernels/dense.hpp"
#include "kernels/panel.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> struct Factored {
    Factored(bool conjugate_, Dense<T> a, Real<T> threshold, BlockDivision const* division = nullptr)
        : conjugate(conjugate_), f(std::move(a)), perm(f.rows), off_diagonal(f.rows),
          stats(factor_ldl<T>(conjugate, f.view(), perm, off_diagonal, threshold, division)) {}

    Dense<T> l() const {
        Dense<T> result(f.rows, f.rows);
        for (Index j = 0; j < f.rows; ++j) {
            result(j, j) = T(1);
            for (Index i = j + 1; i < f.rows; ++i) result(i, j) = f(i, j);
        }
        return result;
    }
    Dense<T> l_times_d() const {
        Dense<T> result(f.rows, f.rows);
        auto const left = l();
        multiply_by_d<T>(conjugate, f.view(), off_diagonal, left.view(), result.view());
        return result;
    }
    Dense<T> multiplied_back() const {
        return product(l_times_d(), l(), conjugate ? Op::adjoint : Op::transpose);
    }

    bool conjugate;
    Dense<T> f;
    std::vector<std::int32_t> perm;
    std::vector<T> off_diagonal;
    PivotStats stats;
};

// Full symmetric A with rows and columns permuted.
template <class T> Dense<T> permuted(Dense<T> const& a, std::span<std::int32_t const> perm) {
    Dense<T> b(a.rows, a.cols);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) b(i, j) = a(perm[i], perm[j]);
    return b;
}

template <class T> void expect_good(Dense<T> const& a, Factored<T> const& ldl, char const* what) {
    Index const n = a.rows;
    ASSERT_TRUE(is_permutation(ldl.perm));
    EXPECT_LE(largest_difference(ldl.multiplied_back(), permuted<T>(a, ldl.perm)),
              16 * static_cast<Real<T>>(n) * epsilon<T> * largest_entry(a))
        << what << ", n = " << n << ", conjugate " << ldl.conjugate;
    EXPECT_LE(largest_entry(ldl.l()), 4) << "rook pivoting bounds L";
    for (Index k = 0; k < n; ++k) {
        if (ldl.conjugate) {
            ASSERT_EQ(imag_part(ldl.f(k, k)), 0);
        }
        if (ldl.off_diagonal[k] != T(0)) {
            ASSERT_LT(k + 1, n);
            ASSERT_EQ(ldl.f(k + 1, k), T(0));
            ASSERT_EQ(ldl.off_diagonal[k + 1], T(0));
        }
    }
}

template <class T> class Ldl : public ::testing::Test {};
TYPED_TEST_SUITE(Ldl, Scalars);

TYPED_TEST(Ldl, MultipliesBackToThePermutedMatrix) {
    using T = TypeParam;
    for (bool conjugate : {false, true})
        for (Index n : {0, 1, 2, 3, 7, 31, 32, 33, 34, 64, 65, 129, 200})
            for (unsigned seed : {1u, 2u}) {
                auto const a = random_symmetric<T>(conjugate, n, seed);
                Factored<T> const ldl(conjugate, a, 0);
                expect_good(a, ldl, "random");
                EXPECT_EQ(ldl.stats.replaced, 0);
                EXPECT_EQ(ldl.stats.zero_column, -1);
            }
}

TYPED_TEST(Ldl, DividedFactorizationMatchesUndivided) {
    using T = TypeParam;
    for (bool conjugate : {false, true})
        for (Index n : {31, 32, 33, 65, 97}) {
            auto const a = random_symmetric<T>(conjugate, n, 1);
            Backwards division;
            Factored<T> const divided(conjugate, a, 0, &division), whole(conjugate, a, 0);
            expect_good(a, divided, "in parts");
            EXPECT_EQ(divided.stats.negative, whole.stats.negative);
            EXPECT_EQ(division.parts > 0, n > 32) << "32 columns are one panel";
        }
}

// [ 0 B^H; B 0 ] has a zero diagonal, so every pivot must be 2x2.
TYPED_TEST(Ldl, FactorsSaddlePointsWithZeroDiagonal) {
    using T = TypeParam;
    for (bool conjugate : {false, true})
        for (Index half : {1, 2, 16, 17, 50}) {
            auto const b = random_dense<T>(half, half, 3);
            Dense<T> a(2 * half, 2 * half);
            for (Index j = 0; j < half; ++j)
                for (Index i = 0; i < half; ++i) {
                    a(half + i, j) = b(i, j);
                    a(j, half + i) = conj_if(conjugate, b(i, j));
                }
            Factored<T> const ldl(conjugate, a, 0);
            expect_good(a, ldl, "saddle");
            EXPECT_EQ(ldl.stats.zero_column, -1);
            if (conjugate || !is_complex<T>) {
                EXPECT_EQ(ldl.stats.negative, half);
            }
            EXPECT_NE(ldl.off_diagonal[0], T(0));
        }
}

TYPED_TEST(Ldl, CountsTheNegativeEigenvaluesThatLapackFinds) {
    using T = TypeParam;
    for (Index n : {1, 2, 5, 40, 100})
        for (unsigned seed : {1u, 2u, 3u}) {
            auto const a = random_symmetric<T>(true, n, seed);
            std::vector<std::complex<double>> entries;
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i) entries.emplace_back(a(i, j));
            auto const values = eigenvalues(entries, static_cast<int>(n));
            Index const expected = std::ranges::count_if(values, [](double value) { return value < 0; });
            EXPECT_EQ(Factored<T>(true, a, 0).stats.negative, expected) << "n = " << n;
        }
}

TYPED_TEST(Ldl, ReadsTheLowerTriangleOnly) {
    using T = TypeParam;
    for (bool conjugate : {false, true}) {
        auto a = random_symmetric<T>(conjugate, 70, 4);
        Factored<T> const clean(conjugate, a, 0);
        for (Index j = 0; j < 70; ++j)
            for (Index i = 0; i < j; ++i) a(i, j) = std::numeric_limits<Real<T>>::quiet_NaN();
        Factored<T> const spoiled(conjugate, a, 0);
        EXPECT_EQ(clean.perm, spoiled.perm);
        EXPECT_EQ(clean.off_diagonal, spoiled.off_diagonal);
        for (Index j = 0; j < 70; ++j)
            for (Index i = j; i < 70; ++i) ASSERT_EQ(clean.f(i, j), spoiled.f(i, j));
    }
}

// A matrix of rank n - 3 with a leading zero block: three pivots are replaced, and the product of the factors
// differs from the matrix by at most the threshold.
TYPED_TEST(Ldl, ReplacesThePivotsThatASingularMatrixLacks) {
    using T = TypeParam;
    for (bool conjugate : {false, true}) {
        Index const n = 60;
        auto a = random_symmetric<T>(conjugate, n, 4);
        for (Index k : {0, 1, 40})
            for (Index i = 0; i < n; ++i) a(i, k) = a(k, i) = T(0);
        Real<T> const threshold = std::sqrt(epsilon<T>);
        Factored<T> const ldl(conjugate, a, threshold);
        EXPECT_EQ(ldl.stats.replaced, 3);
        EXPECT_EQ(ldl.stats.zero_column, -1);
        EXPECT_LE(largest_difference(ldl.multiplied_back(), permuted<T>(a, ldl.perm)), 2 * threshold);

        Factored<T> const strict(conjugate, a, 0);
        EXPECT_EQ(strict.stats.replaced, 0);
        EXPECT_EQ(strict.stats.zero_column, 0);
    }
}

TYPED_TEST(Ldl, ReplacesATwoByTwoPivotThatIsNegligible) {
    using T = TypeParam;
    for (bool conjugate : {false, true}) {
        Dense<T> a(2, 2);
        a(1, 0) = a(0, 1) = T(Real<T>(1e-4));
        Factored<T> const ldl(conjugate, a, Real<T>(1e-2));
        EXPECT_EQ(ldl.stats.replaced, 2);
        EXPECT_EQ(ldl.off_diagonal[0], T(0));
        EXPECT_EQ(ldl.f(0, 0), T(Real<T>(1e-2)));
        EXPECT_LE(std::abs(ldl.f(1, 1)), Real<T>(1.001e-2));
    }
}

TYPED_TEST(Ldl, KeepsTheSignOfAReplacedPivot) {
    using T = TypeParam;
    Dense<T> a(1, 1);
    a(0, 0) = T(-1e-4f);
    Factored<T> const ldl(true, a, Real<T>(0.25));
    EXPECT_EQ(ldl.f(0, 0), T(-0.25));
    EXPECT_EQ(ldl.stats.replaced, 1);
    EXPECT_EQ(ldl.stats.negative, 1);
}

TYPED_TEST(Ldl, ReportsNaNAndEndsOnIt) {
    using T = TypeParam;
    for (bool conjugate : {false, true})
        for (Index n : {1, 2, 10, 80})
            for (Real<T> const bad :
                 {std::numeric_limits<Real<T>>::quiet_NaN(), std::numeric_limits<Real<T>>::infinity()}) {
                auto a = random_symmetric<T>(conjugate, n, 4);
                a(n - 1, n / 3) = bad;
                EXPECT_GE(Factored<T>(conjugate, a, Real<T>(1e-3f)).stats.zero_column, 0) << n << " " << bad;
            }
}

// X = B(:, p) L^-H D^-1 satisfies X D L^H = B(:, p).
TYPED_TEST(Ldl, PanelSolveGivesTheRowsOfL) {
    using T = TypeParam;
    for (bool conjugate : {false, true})
        for (Index n : {1, 6, 50}) {
            auto const a = random_symmetric<T>(conjugate, n, 8);
            Factored<T> const ldl(conjugate, a, 0);
            Index const rows = 23;
            auto const b = random_dense<T>(rows, n, 9);
            auto x = b;
            solve_panel_ldl<T>(conjugate, ldl.f.view(), ldl.perm, ldl.off_diagonal, x.view());
            Dense<T> xd(rows, n);
            multiply_by_d<T>(conjugate, ldl.f.view(), ldl.off_diagonal, x.view(), xd.view());
            auto const back = product(xd, ldl.l(), conjugate ? Op::adjoint : Op::transpose);
            Dense<T> expected(rows, n);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < rows; ++i) expected(i, j) = b(i, ldl.perm[j]);
            EXPECT_LE(largest_difference(back, expected),
                      16 * static_cast<Real<T>>(n) * epsilon<T> * std::max<Real<T>>(1, largest_entry(x)));
        }
}

// The largest |Re| + |Im| in the first rows of a panel of several blocks of rows. Without a permutation the
// result is that of permuted columns.
TYPED_TEST(Ldl, PanelSolveReturnsTheLargestSizeInTheCountedRows) {
    using T = TypeParam;
    Index const n = 33, rows = 700;
    auto const a = random_symmetric<T>(true, n, 8);
    Factored<T> const ldl(true, a, 0);
    auto const b = random_dense<T>(rows, n, 9);
    auto x = b;
    EXPECT_EQ(solve_panel_ldl<T>(true, ldl.f.view(), ldl.perm, ldl.off_diagonal, x.view()), 0);
    for (Index const counted : {1, 255, 256, 257, 600, 700, 900}) {
        Real<T> expected = 0;
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < std::min(counted, rows); ++i) expected = std::max(expected, abs1(x(i, j)));
        auto y = b;
        permute_columns<T>(y.view(), ldl.perm);
        EXPECT_EQ(solve_panel_ldl<T>(true, ldl.f.view(), {}, ldl.off_diagonal, y.view(), counted), expected)
            << counted;
        EXPECT_EQ(largest_difference(x, y), 0);
    }
}

TYPED_TEST(Ldl, SolveWithDUndoesItsProduct) {
    using T = TypeParam;
    for (bool conjugate : {false, true}) {
        Index const n = 41;
        Factored<T> const ldl(conjugate, random_symmetric<T>(conjugate, n, 8), 0);
        EXPECT_TRUE(std::ranges::any_of(ldl.off_diagonal, [](T value) { return value != T(0); }));
        // multiply_by_d() of the unit matrix is D.
        Dense<T> unit(n, n), d(n, n);
        for (Index i = 0; i < n; ++i) unit(i, i) = T(1);
        multiply_by_d<T>(conjugate, ldl.f.view(), ldl.off_diagonal, unit.view(), d.view());
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) ASSERT_EQ(d(j, i), conj_if(conjugate, d(i, j)));

        auto const x = random_dense<T>(n, 5, 9);
        auto y = product(d, x);
        solve_d<T>(conjugate, ldl.f.view(), ldl.off_diagonal, y.view());
        EXPECT_LE(largest_difference(y, x), 2000 * epsilon<T>);
    }
}

TYPED_TEST(Ldl, InvertsTwoByTwoPivotsAtTheEndsOfTheRange) {
    using T = TypeParam;
    using Limits = std::numeric_limits<Real<T>>;
    for (bool conjugate : {false, true})
        for (Real<T> const scale : {Limits::max() / 64, Limits::min() * 64}) {
            Dense<T> a(2, 2);
            a(1, 0) = T(scale);
            a(1, 1) = T(scale / 4);
            Factored<T> const ldl(conjugate, a, 0);
            ASSERT_EQ(ldl.stats.zero_column, -1);
            ASSERT_NE(ldl.off_diagonal[0], T(0));
            Dense<T> x(2, 1);
            x(ldl.perm[0] == 0 ? 0 : 1, 0) = T(scale); // D [0; 1] = [1; 1/4] scale in the first order of rows
            x(ldl.perm[0] == 0 ? 1 : 0, 0) = T(scale / 4);
            solve_d<T>(conjugate, ldl.f.view(), ldl.off_diagonal, x.view());
            EXPECT_LE(std::abs(x(ldl.perm[0] == 0 ? 1 : 0, 0) - T(1)), 8 * epsilon<T>);
            EXPECT_LE(std::abs(x(ldl.perm[0] == 0 ? 0 : 1, 0)), 8 * epsilon<T>);
        }
}

TYPED_TEST(Ldl, PermuteColumnsPutsColumnPermOfNewAtNew) {
    using T = TypeParam;
    for (Index n : {0, 1, 2, 37})
        for (Index m : {0, 1, 511, 1300}) {
            auto const b = random_dense<T>(m, n, 1);
            std::vector<std::int32_t> perm(n);
            std::iota(perm.begin(), perm.end(), 0);
            std::mt19937 random(5);
            std::shuffle(perm.begin(), perm.end(), random);
            auto c = b;
            permute_columns<T>(c.view(), perm);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i) ASSERT_EQ(c(i, j), b(i, perm[j]));
        }
}

} // namespace
} // namespace espalier
