// A(p, :) = L U with partial pivoting.
#include "kernels/dense.hpp"
#include "kernels/panel.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class Lu : public ::testing::Test {};
TYPED_TEST_SUITE(Lu, Scalars);

template <class T> Dense<T> multiply_back(Dense<T> const& f) {
    Dense<T> l(f.rows, f.cols), u(f.rows, f.cols);
    for (Index j = 0; j < f.cols; ++j) {
        l(j, j) = T(1);
        for (Index i = 0; i <= j; ++i) u(i, j) = f(i, j);
        for (Index i = j + 1; i < f.rows; ++i) l(i, j) = f(i, j);
    }
    return product(l, u);
}

template <class T> Dense<T> rows_of(Dense<T> const& a, std::span<std::int32_t const> perm) {
    Dense<T> b(a.rows, a.cols);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) b(i, j) = a(perm[i], j);
    return b;
}

TYPED_TEST(Lu, MultipliesBackToThePermutedMatrixAndBoundsL) {
    using T = TypeParam;
    for (Index n : {0, 1, 2, 7, 8, 9, 33, 64, 129, 300}) {
        auto const a = random_dense<T>(n, n, 5);
        auto f = a;
        std::vector<std::int32_t> perm(n);
        auto const stats = factor_lu<T>(f.view(), perm, 0);
        EXPECT_EQ(stats.replaced, 0);
        EXPECT_EQ(stats.zero_column, -1);
        ASSERT_TRUE(is_permutation(perm));
        EXPECT_LE(largest_difference(multiply_back(f), rows_of<T>(a, perm)),
                  16 * static_cast<Real<T>>(n) * epsilon<T>);
        for (Index j = 0; j < n; ++j)
            for (Index i = j + 1; i < n; ++i) ASSERT_LE(std::abs(f(i, j)), is_complex<T> ? 1.4143 : 1.00001);
    }
}

TYPED_TEST(Lu, DividedFactorizationMatchesUndivided) {
    using T = TypeParam;
    for (Index n : {31, 32, 65, 97}) {
        auto const a = random_dense<T>(n, n, 5);
        auto whole = a, divided = a;
        std::vector<std::int32_t> perm(n), perm_divided(n);
        Backwards division;
        factor_lu<T>(whole.view(), perm, 0);
        factor_lu<T>(divided.view(), perm_divided, 0, &division);
        EXPECT_EQ(perm_divided, perm);
        EXPECT_LE(largest_difference(multiply_back(divided), rows_of<T>(a, perm)),
                  16 * static_cast<Real<T>>(n) * epsilon<T>);
        EXPECT_EQ(division.parts > 0, n >= 32);
    }
}

// Wilkinson's matrix: the last column doubles at each step, the theoretical maximum.
TYPED_TEST(Lu, GrowsAsWilkinsonsExampleDoes) {
    using T = TypeParam;
    Index const n = 20;
    Dense<T> a(n, n);
    for (Index j = 0; j < n; ++j) {
        a(j, j) = T(1);
        a(j, n - 1) = T(1);
        for (Index i = j + 1; i < n; ++i) a(i, j) = T(-1);
    }
    std::vector<std::int32_t> perm(n);
    factor_lu<T>(a.view(), perm, 0);
    EXPECT_EQ(a(n - 1, n - 1), T(static_cast<Real<T>>(1 << (n - 1))));
    for (std::int32_t i = 0; i < n; ++i) EXPECT_EQ(perm[i], i);
}

TYPED_TEST(Lu, ReplacesPivotsThatAreTooSmallAndCountsThem) {
    using T = TypeParam;
    Index const n = 50;
    auto a = random_dense<T>(n, n, 5);
    for (Index j : {3, 20, 49})
        for (Index i = 0; i < n; ++i) a(i, j) = T(0);
    auto f = a;
    std::vector<std::int32_t> perm(n);
    Real<T> const threshold = std::sqrt(epsilon<T>);
    auto const stats = factor_lu<T>(f.view(), perm, threshold);
    EXPECT_EQ(stats.replaced, 3);
    EXPECT_EQ(stats.zero_column, -1);
    EXPECT_EQ(f(3, 3), T(threshold));
    // The factors are those of the matrix with `threshold` added to the pivots of these columns.
    EXPECT_LE(largest_difference(multiply_back(f), rows_of<T>(a, perm)), 2 * threshold);
}

TYPED_TEST(Lu, ReplacesWithThePivotsOwnPhase) {
    using T = TypeParam;
    Dense<T> a(1, 1);
    std::int32_t perm[1];
    a(0, 0) = T(-1e-3f);
    factor_lu<T>(a.view(), perm, Real<T>(0.5));
    EXPECT_LE(std::abs(a(0, 0) - T(-0.5)), epsilon<T>);
    if constexpr (is_complex<T>) {
        a(0, 0) = T(0, 1e-3f);
        factor_lu<T>(a.view(), perm, Real<T>(0.5));
        EXPECT_LE(std::abs(a(0, 0) - T(0, 0.5)), epsilon<T>);
    }
    a(0, 0) = std::numeric_limits<Real<T>>::denorm_min();
    EXPECT_EQ(factor_lu<T>(a.view(), perm, Real<T>(0.5)).replaced, 1);
    EXPECT_EQ(a(0, 0), T(0.5));
}

TYPED_TEST(Lu, ReportsTheFirstColumnItCannotDivideBy) {
    using T = TypeParam;
    std::vector<std::int32_t> perm(40);
    auto a = random_dense<T>(40, 40, 5);
    for (Index j : {17, 30})
        for (Index i = 0; i < 40; ++i) a(i, j) = T(0);
    auto const stats = factor_lu<T>(a.view(), perm, 0);
    EXPECT_EQ(stats.zero_column, 17);
    EXPECT_EQ(stats.replaced, 0);

    auto b = random_dense<T>(40, 40, 5);
    b(7, 9) = std::numeric_limits<Real<T>>::quiet_NaN();
    EXPECT_GE(factor_lu<T>(b.view(), perm, Real<T>(1e-3f)).zero_column, 9);
}

TYPED_TEST(Lu, DividesByTinyPivotsWithoutOverflow) {
    using T = TypeParam;
    Dense<T> a(2, 2);
    Real<T> const tiny = std::numeric_limits<Real<T>>::denorm_min() * 8;
    a(0, 0) = tiny;
    a(1, 0) = tiny;
    a(1, 1) = T(1);
    std::int32_t perm[2];
    EXPECT_EQ(factor_lu<T>(a.view(), perm, 0).zero_column, -1);
    EXPECT_EQ(a(1, 0), T(1));
}

} // namespace
} // namespace espalier
