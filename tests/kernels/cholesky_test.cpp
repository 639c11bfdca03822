// L L^H and L L^T of a diagonal block, and the column of a failure.
#include "kernels/dense.hpp"
#include "kernels/panel.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class Cholesky : public ::testing::Test {};
TYPED_TEST_SUITE(Cholesky, Scalars);

template <class T> Dense<T> lower_triangle(Dense<T> const& a) {
    Dense<T> l(a.rows, a.cols);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = j; i < a.rows; ++i) l(i, j) = a(i, j);
    return l;
}

TYPED_TEST(Cholesky, MultipliesBackToTheMatrix) {
    using T = TypeParam;
    for (bool conjugate : {false, true})
        for (Index n : {0, 1, 2, 7, 64, 65, 129, 300}) {
            auto const a = random_definite<T>(conjugate, n, 7);
            auto f = a;
            ASSERT_EQ(factor_cholesky<T>(conjugate, f.view()), -1) << "n = " << n;
            auto const l = lower_triangle(f);
            auto const back = product(l, l, conjugate ? Op::adjoint : Op::transpose);
            EXPECT_LE(largest_difference(back, a), 32 * epsilon<T> * largest_entry(a)) << "n = " << n;
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < j; ++i) ASSERT_EQ(f(i, j), a(i, j)) << "the upper triangle was written";
        }
}

TYPED_TEST(Cholesky, DividedFactorizationMatchesUndivided) {
    using T = TypeParam;
    for (bool conjugate : {false, true})
        for (Index n : {31, 32, 65, 97}) {
            auto const a = random_definite<T>(conjugate, n, 3);
            auto whole = a, divided = a;
            Backwards division;
            ASSERT_EQ(factor_cholesky<T>(conjugate, whole.view()), -1);
            ASSERT_EQ(factor_cholesky<T>(conjugate, divided.view(), &division), -1);
            EXPECT_LE(largest_difference(divided, whole), 16 * epsilon<T> * largest_entry(whole)) << n;
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < j; ++i) ASSERT_EQ(divided(i, j), a(i, j));
            EXPECT_EQ(division.parts > 1, n >= 32);
            divided = a;
            divided(n - 2, n - 2) = -1;
            if (conjugate) {
                EXPECT_EQ(factor_cholesky<T>(true, divided.view(), &division), n - 2);
            }
        }
}

TYPED_TEST(Cholesky, NamesTheColumnWherePositivityEnds) {
    using T = TypeParam;
    for (Index n : {1, 5, 64, 200})
        for (Index column : {Index(0), n / 2, n - 1}) {
            auto a = random_definite<T>(true, n, 7);
            a(column, column) = -1;
            EXPECT_EQ(factor_cholesky<T>(true, a.view()), column) << "n = " << n;
        }
}

TYPED_TEST(Cholesky, StopsAtNaNAndInfinity) {
    using T = TypeParam;
    using Limits = std::numeric_limits<Real<T>>;
    for (bool conjugate : {false, true})
        for (Real<T> const bad : {Limits::quiet_NaN(), Limits::infinity()})
            for (Index n : {1, 2, 30, 150}) {
                auto a = random_definite<T>(conjugate, n, 7);
                Index const column = n * 2 / 3;
                a(column, column) = bad;
                EXPECT_EQ(factor_cholesky<T>(conjugate, a.view()), column) << "n = " << n << ", " << bad;

                // An off-diagonal entry is detected at the latest in the pivot of its row.
                auto b = random_definite<T>(conjugate, n, 7);
                b(n - 1, 0) = bad;
                Index const failed = factor_cholesky<T>(conjugate, b.view());
                EXPECT_GE(failed, 0) << "n = " << n << ", " << bad;
            }
}

TYPED_TEST(Cholesky, WithoutConjugationFailsOnAZeroPivotOnly) {
    using T = TypeParam;
    for (Index n : {3, 40}) {
        auto a = random_definite<T>(false, n, 7);
        for (Index i = 0; i < n; ++i) a(i, 1) = a(1, i) = T(0);
        EXPECT_EQ(factor_cholesky<T>(false, a.view()), 1);
    }
    if constexpr (is_complex<T>) {
        Dense<T> a(2, 2);
        a(0, 0) = T(-4);
        a(1, 0) = T(2);
        a(1, 1) = T(8);
        ASSERT_EQ(factor_cholesky<T>(false, a.view()), -1);
        EXPECT_LE(std::abs(a(0, 0) - T(0, 2)), epsilon<T>);
        EXPECT_LE(std::abs(a(1, 0) - T(0, -1)), epsilon<T>);
        EXPECT_LE(std::abs(a(1, 1) - T(3)), 4 * epsilon<T>);
    }
}

} // namespace
} // namespace espalier
