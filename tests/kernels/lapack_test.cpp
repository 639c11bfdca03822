#include "kernels/lapack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/blas.hpp"

namespace espalier {
namespace {

template <class T> std::vector<T> random_values(Index count) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<Real<T>> uniform(-1, 1);
    std::vector<T> values(count);
    for (T& value : values) {
        Real<T> const re = uniform(random);
        if constexpr (is_complex<T>)
            value = T(re, uniform(random));
        else
            value = re;
    }
    return values;
}

// |A^H A - diag(expected)|, largest entry.
template <class T>
double distance_from_diagonal(MatrixView<T const> a, std::vector<Real<T>> const& expected) {
    std::vector<T> product(static_cast<std::size_t>(a.cols * a.cols));
    MatrixView<T> const c{product.data(), a.cols, a.cols, a.cols};
    gemm<T>(Op::adjoint, Op::none, T(1), a, a, T(0), c);
    double largest = 0;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.cols; ++i)
            largest = std::max<double>(largest, std::abs(c(i, j) - (i == j ? T(expected[i]) : T(0))));
    return largest;
}

template <class T> class Lapack : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Lapack, Scalars);

TYPED_TEST(Lapack, OrthonormalizeKeepsTheSpaceAlsoWithAGapBetweenColumns) {
    using T = TypeParam;
    Index const m = 30, n = 6, ld = 33;
    auto values = random_values<T>(ld * n);
    auto const before = values;
    MatrixView<T> const q{values.data(), m, n, ld};
    MatrixView<T const> const a{before.data(), m, n, ld};
    orthonormalize(q);
    double const tolerance = 100 * epsilon<T>;
    EXPECT_LE(distance_from_diagonal<T>(q, std::vector<Real<T>>(n, 1)), tolerance);
    // A - Q Q^H A = 0
    std::vector<T> small(static_cast<std::size_t>(n * n));
    MatrixView<T> const projection{small.data(), n, n, n};
    gemm<T>(Op::adjoint, Op::none, T(1), q, a, T(0), projection);
    auto rest = before;
    gemm<T>(Op::none, Op::none, T(-1), q, projection, T(1), MatrixView<T>{rest.data(), m, n, ld});
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i)
            EXPECT_NEAR(std::abs(rest[static_cast<std::size_t>(i + j * ld)]), 0, tolerance);
    for (Index i = m; i < ld; ++i) EXPECT_EQ(values[i], before[i]);
}

TYPED_TEST(Lapack, OrthonormalizeCompletesDependentColumns) {
    using T = TypeParam;
    std::vector<T> values(40, T(1)); // four equal columns
    MatrixView<T> const q{values.data(), 10, 4, 10};
    orthonormalize(q);
    EXPECT_LE(distance_from_diagonal<T>(q, std::vector<Real<T>>(4, 1)), 100 * epsilon<T>);
}

TYPED_TEST(Lapack, SingularValuesAndRightVectorsDiagonalize) {
    using T = TypeParam;
    for (Index const m : {12, 40}) {
        Index const n = 12;
        auto values = random_values<T>(m * n);
        auto const before = values;
        std::vector<T> right(static_cast<std::size_t>(n * n));
        auto const sigma = singular_values<T>({values.data(), m, n, m}, {right.data(), n, n, n});
        ASSERT_EQ(sigma.size(), static_cast<std::size_t>(n));
        EXPECT_TRUE(std::is_sorted(sigma.rbegin(), sigma.rend()));
        // (A V)^H (A V) = diag(sigma^2)
        std::vector<T> image(static_cast<std::size_t>(m * n));
        MatrixView<T> const av{image.data(), m, n, m};
        gemm<T>(Op::none, Op::adjoint, T(1), MatrixView<T const>{before.data(), m, n, m},
                MatrixView<T const>{right.data(), n, n, n}, T(0), av);
        std::vector<Real<T>> squares;
        for (Real<T> const value : sigma) squares.push_back(value * value);
        EXPECT_LE(distance_from_diagonal<T>(av, squares), 1000 * epsilon<T>);
    }
}

TYPED_TEST(Lapack, OfNothingIsNothing) {
    using T = TypeParam;
    orthonormalize(MatrixView<T>{nullptr, 5, 0, 5});
    EXPECT_TRUE((singular_values<T>({nullptr, 5, 0, 5}, {nullptr, 0, 0, 0}).empty()));
}

TYPED_TEST(Lapack, MatrixTimesVectorWithEveryOp) {
    using T = TypeParam;
    auto const values = random_values<T>(7 * 4);
    MatrixView<T const> const a{values.data(), 5, 4, 7};
    for (Op const op : {Op::none, Op::transpose, Op::adjoint}) {
        std::size_t const columns = op == Op::none ? 4 : 5, rows = 9 - columns;
        auto const x = random_values<T>(static_cast<Index>(columns));
        std::vector<T> y(rows, T(1));
        gemv<T>(op, T(2), a, x, T(3), y);
        for (std::size_t i = 0; i < rows; ++i) {
            T expected(3);
            for (std::size_t j = 0; j < columns; ++j) {
                auto const k = static_cast<Index>(i), l = static_cast<Index>(j);
                expected += T(2) * (op == Op::none ? a(k, l) : conj_if(op == Op::adjoint, a(l, k))) * x[j];
            }
            EXPECT_NEAR(std::abs(y[i] - expected), 0, 100 * epsilon<T>);
        }
    }
}

} // namespace
} // namespace espalier
