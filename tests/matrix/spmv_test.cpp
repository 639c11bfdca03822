#include <limits>

#include <gtest/gtest.h>

#include "matrix/dense_reference.hpp"
#include "matrix/spmv.hpp"

using namespace espalier;
using namespace espalier::test;

namespace {

template <class T> class Spmv : public testing::Test {};
TYPED_TEST_SUITE(Spmv, Scalars);

template <class T> Dense<T> apply_op(MatrixOp op, Dense<T> const& a) {
    if (op == MatrixOp::none) return a;
    Dense<T> result(a.cols, a.rows);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) result(j, i) = conj_if(op == MatrixOp::adjoint, a(i, j));
    return result;
}

/// alpha A X + beta Y by the definition.
template <class T>
std::vector<T> dense_multiply(T alpha, Dense<T> const& a, std::vector<T> const& x, T beta, std::vector<T> y) {
    auto const nrhs = static_cast<Index>(x.size()) / a.cols;
    for (Index c = 0; c < nrhs; ++c)
        for (Index i = 0; i < a.rows; ++i) {
            T sum(0);
            for (Index j = 0; j < a.cols; ++j) sum += a(i, j) * x[j + c * a.cols];
            y[i + c * a.rows] = alpha * sum + beta * y[i + c * a.rows];
        }
    return y;
}

template <class T, class U> void expect_close(std::vector<T> const& actual, std::vector<U> const& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_LE(std::abs(actual[i] - expected[i]), 200 * epsilon<T>) << i;
}

} // namespace

TYPED_TEST(Spmv, MatchesDenseForEverySymmetryOperationAndWidth) {
    using T = TypeParam;
    T const alpha = T(Real<T>(-1.5)), beta = T(Real<T>(0.75));
    for (Symmetry const symmetry : all_symmetries)
        for (MatrixOp const op : all_ops)
            for (Index const nrhs : {1, 5}) {
                auto const a =
                    random_matrix<T>(symmetry == Symmetry::general ? 19 : 14, 14, symmetry, 0.4, 2);
                auto const dense = apply_op(op, to_dense(a));
                auto const x = random_vector<T>(dense.cols * nrhs, 3);
                auto y = random_vector<T>(dense.rows * nrhs, 4);
                auto const expected = dense_multiply(alpha, dense, x, beta, y);
                multiply<T>(op, alpha, a, x, beta, y, nrhs);
                expect_close(y, expected);
            }
}

TYPED_TEST(Spmv, ComplexFactorsAreNotConjugated) {
    using T = TypeParam;
    if constexpr (is_complex<T>) {
        auto const a = random_matrix<T>(10, 10, Symmetry::hermitian, 0.5, 8);
        auto const x = random_vector<T>(10, 3);
        auto y = random_vector<T>(10, 4);
        T const alpha(0, 1), beta(0, 2);
        auto const expected = dense_multiply(alpha, to_dense(a), x, beta, y);
        multiply<T>(MatrixOp::none, alpha, a, x, beta, y);
        expect_close(y, expected);
    } else {
        auto const a = random_matrix<T>(10, 10, Symmetry::symmetric, 0.5, 8);
        auto const x = random_vector<T>(10, 3);
        std::vector<T> y(10), y_adjoint(10);
        multiply<T>(MatrixOp::none, T(1), a, x, T(0), y);
        multiply<T>(MatrixOp::adjoint, T(1), a, x, T(0), y_adjoint);
        EXPECT_EQ(y, y_adjoint);
    }
}

TYPED_TEST(Spmv, BetaZeroDoesNotReadY) {
    using T = TypeParam;
    auto const a = random_matrix<T>(6, 6, Symmetry::general, 0.5, 1);
    auto const x = random_vector<T>(6, 2);
    std::vector<T> y(6, T(std::numeric_limits<Real<T>>::quiet_NaN())), expected(6);
    multiply<T>(MatrixOp::none, T(1), a, x, T(0), y);
    multiply<T>(MatrixOp::none, T(1), a, x, T(0), expected);
    EXPECT_EQ(y, expected);
    EXPECT_TRUE(is_finite(y[0]));
}

TEST(Spmv, ANanInXReachesTheRowsThatMeetIt) {
    // Lower triangle of [1 2 .; 2 . .; . . 1].
    CscMatrix<double> const a{3, 3, Symmetry::symmetric, {0, 2, 2, 3}, {0, 1, 2}, {1, 2, 1}};
    std::vector<double> const x{1, std::nan(""), 1};
    std::vector<double> y(3);
    multiply<double>(MatrixOp::none, 1, a, x, 0, y);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], 2);
    EXPECT_EQ(y[2], 1);
}

TEST(Spmv, RefusesVectorsOfTheWrongSize) {
    auto const a = random_matrix<double>(3, 5, Symmetry::general, 0.5, 1);
    std::vector<double> three(3), five(5), ten(10);
    auto const run = [&](MatrixOp op, std::vector<double>& x, std::vector<double>& y, Index nrhs) {
        return status_of([&] { multiply<double>(op, 1, a, x, 0, y, nrhs); });
    };
    EXPECT_EQ(run(MatrixOp::none, five, three, 1), Status::ok);
    EXPECT_EQ(run(MatrixOp::transpose, three, five, 1), Status::ok);
    EXPECT_EQ(run(MatrixOp::transpose, five, three, 1), Status::usage);
    EXPECT_EQ(run(MatrixOp::none, three, three, 1), Status::usage);
    EXPECT_EQ(run(MatrixOp::none, ten, three, 2), Status::usage);
    EXPECT_EQ(run(MatrixOp::none, five, three, -1), Status::usage);
    EXPECT_EQ(run(MatrixOp::none, five, three, Index(1) << 62), Status::usage);
}
