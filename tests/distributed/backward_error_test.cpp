#include <limits>

#include <gtest/gtest.h>

#include "common/matrices.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/dense_reference.hpp"
#include "matrix/spmv.hpp"

using namespace espalier;
using namespace espalier::test;

namespace {

template <class T> class BackwardErrorOf : public testing::Test {};
TYPED_TEST_SUITE(BackwardErrorOf, Scalars);

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using Vector = std::vector<double>;

/// Diagonal matrix, with nothing stored where the diagonal is zero.
CscMatrix<double> diagonal(Vector const& d) {
    return matrix_of(std::ssize(d), Symmetry::general, [&](Index i, Index j) { return i == j ? d[j] : 0; });
}

double normwise(CscMatrix<double> const& a, Vector const& x, Vector const& b, Index nrhs = 1) {
    return normwise_backward_error<double>(a, x, b, nrhs);
}
double componentwise(CscMatrix<double> const& a, Vector const& x, Vector const& b, Index nrhs = 1) {
    return componentwise_backward_error<double>(a, x, b, nrhs);
}

} // namespace

TEST(BackwardError, OfTheEmptySystemIsZero) {
    CscMatrix<double> const a;
    EXPECT_EQ(normwise(a, {}, {}), 0);
    EXPECT_EQ(componentwise(a, {}, {}), 0);
}

TEST(BackwardError, ByHand) {
    // A = diag(2, 4), x = (1, 1), b = (2, 5): r = (0, 1), |A| |x| + |b| = 4 + 5, (|A||x| + |b|)_2 = 9.
    auto const a = diagonal({2, 4});
    EXPECT_DOUBLE_EQ(normwise(a, {1, 1}, {2, 5}), 1.0 / 9);
    EXPECT_DOUBLE_EQ(componentwise(a, {1, 1}, {2, 5}), 1.0 / 9);
    // Only the componentwise error shows a small component that is completely wrong.
    EXPECT_LT(normwise(diagonal({1e12, 1}), {1, 1}, {1e12, 3}), 1e-11);
    EXPECT_DOUBLE_EQ(componentwise(diagonal({1e12, 1}), {1, 1}, {1e12, 3}), 0.5);
}

TYPED_TEST(BackwardErrorOf, AnExactSolutionIsTiny) {
    using T = TypeParam;
    for (Symmetry const symmetry : all_symmetries) {
        auto const a = random_matrix<T>(30, 30, symmetry, 0.3, 5);
        auto const x = random_vector<T>(60, 6);
        std::vector<T> b(60);
        multiply<T>(MatrixOp::none, T(1), a, x, T(0), b, 2);
        EXPECT_LE(normwise_backward_error<T>(a, x, b, 2), 30 * epsilon<T>);
        EXPECT_LE(componentwise_backward_error<T>(a, x, b, 2), 30 * epsilon<T>);
    }
}

TYPED_TEST(BackwardErrorOf, ATransposedSystemIsThatOfTheTransposedMatrix) {
    using T = TypeParam;
    for (Symmetry const symmetry : all_symmetries)
        for (MatrixOp const op : {MatrixOp::transpose, MatrixOp::adjoint}) {
            auto const a = random_matrix<T>(14, 14, symmetry, 0.4, 12);
            auto const turned = matrix_of<T>(a.cols, Symmetry::general, to_dense(a, op));
            auto const x = random_vector<T>(a.rows * 2, 3), b = random_vector<T>(a.cols * 2, 4);
            double const tolerance = 20 * epsilon<T>;
            EXPECT_NEAR(normwise_backward_error<T>(a, x, b, 2, op),
                        normwise_backward_error<T>(turned, x, b, 2), tolerance);
            EXPECT_NEAR(componentwise_backward_error<T>(a, x, b, 2, op),
                        componentwise_backward_error<T>(turned, x, b, 2), tolerance);
        }
}

TEST(BackwardError, OfATransposeIsRightWhereTheResidualOverflows) {
    CscMatrix<double> const column{2, 2, Symmetry::general, {0, 2, 2}, {0, 1}, {1e300, -1e300}};
    Vector const x{1e300, 1e300}, b{1e299, 0};
    EXPECT_LE(normwise_backward_error<double>(column, x, b, 1, MatrixOp::transpose), 1e-300);
    EXPECT_LE(componentwise_backward_error<double>(column, x, b, 1, MatrixOp::adjoint), 1e-300);
}

TEST(BackwardError, IsThatOfTheWorstRightHandSide) {
    auto const a = diagonal({1, 1});
    EXPECT_DOUBLE_EQ(normwise(a, {1, 1, 1, 1}, {1, 1, 1, 3}, 2), 0.5);
    EXPECT_DOUBLE_EQ(normwise(a, {1, 1, 1, 1}, {1, 3, 1, 1}, 2), 0.5);
    EXPECT_DOUBLE_EQ(componentwise(a, {1, 1, 1, 1}, {1, 3, 1, 1}, 2), 0.5);
}

TEST(BackwardError, ZeroOverZeroIsZeroAndNonzeroOverZeroInfinite) {
    EXPECT_EQ(normwise(diagonal({1, 1}), {0, 0}, {0, 0}), 0);
    EXPECT_EQ(componentwise(diagonal({1, 0}), {1, 7}, {1, 0}), 0);
    // Nonzero over zero is impossible for b - A x in exact arithmetic, but not for a given residual.
    EXPECT_EQ(normwise_backward_error(1.0, 1.0, 0.0, 0.0), infinity);
}

TEST(BackwardError, OfAnythingNotFiniteIsInfinite) {
    auto const a = diagonal({1, 0, 1}); // column 1 is empty: x[1] enters neither A x nor |A||x|
    for (double const bad : {not_a_number, infinity, -infinity})
        for (std::size_t place = 0; place < 3; ++place) {
            Vector x{1, 1, 1}, b{1, 0, 1};
            x[place] = bad;
            EXPECT_EQ(normwise(a, x, b), infinity);
            EXPECT_EQ(componentwise(a, x, b), infinity);
            x[place] = 1;
            b[place] = bad;
            EXPECT_EQ(normwise(a, x, b), infinity);
            EXPECT_EQ(componentwise(a, x, b), infinity);
        }
    EXPECT_EQ(normwise(diagonal({not_a_number, 1}), {1, 1}, {1, 1}), infinity);
    EXPECT_EQ(componentwise(diagonal({not_a_number, 1}), {1, 1}, {1, 1}), infinity);
}

TEST(BackwardError, IsRightWhereTheScaleOverflows) {
    // |A| |x| = 1e600; r = (0, -1e300).
    auto const a = diagonal({1e300, 1});
    EXPECT_DOUBLE_EQ(normwise(a, {0, 1e300}, {0, 0}), 1e-300);
    EXPECT_EQ(normwise(a, {0, 1e300}, {0, 1e300}), 0);
    EXPECT_DOUBLE_EQ(normwise_backward_error(1e300, 3e299, 1e300, 1e300), 3e-301);
    EXPECT_EQ(normwise_backward_error(infinity, 3e299, 1e300, 1e300), infinity);
    // The other column is measured without scaling, however small it is.
    EXPECT_DOUBLE_EQ(normwise(a, {0, 1e300, 0, 1e-300}, {0, 0, 0, 3e-300}, 2), 2e-300 / (1 + 3e-300));
}

TEST(BackwardError, IsRightWhereTheResidualOverflows) {
    // [ 1e300 -1e300 ] (1e300, 1e300) = 0, of terms that are 1e600; b = 1e299 is off by 1e299.
    CscMatrix<double> const row{2, 2, Symmetry::general, {0, 1, 2}, {0, 0}, {1e300, -1e300}};
    EXPECT_LE(normwise(row, {1e300, 1e300}, {1e299, 0}), 1e-300);
    EXPECT_LE(componentwise(row, {1e300, 1e300}, {1e299, 0}), 1e-300);
    EXPECT_DOUBLE_EQ(normwise(diagonal({1e300}), {1e300}, {0}), 1);
    EXPECT_DOUBLE_EQ(componentwise(diagonal({1e300}), {1e300}, {0}), 1);
    // A row of small numbers next to it keeps its error.
    CscMatrix<double> const two{3, 3, Symmetry::general, {0, 1, 2, 3}, {0, 0, 1}, {1e300, -1e300, 1e-200}};
    EXPECT_DOUBLE_EQ(componentwise(two, {1e300, 1e300, 1}, {1e299, 3e-200, 0}), 0.5);
}

TEST(BackwardError, IsRightWhereARowSumOverflows) {
    CscMatrix<double> const row{2, 2, Symmetry::general, {0, 1, 2}, {0, 0}, {1.5e308, 1.5e308}};
    EXPECT_DOUBLE_EQ(normwise(row, {1, -1}, {1e308, 0}), 0.25);
    EXPECT_DOUBLE_EQ(componentwise(row, {1, -1}, {1e308, 0}), 0.25);
}

TEST(BackwardError, IsRightWhereSinglePrecisionOverflows) {
    CscMatrix<float> const a{2, 2, Symmetry::general, {0, 1, 2}, {0, 0}, {1e30f, -1e30f}};
    std::vector<float> const x{1e30f, 0.5e30f}, b{1e30f, 0};
    EXPECT_NEAR(normwise_backward_error<float>(a, x, b, 1), 0.25, 1e-6);
    EXPECT_NEAR(componentwise_backward_error<float>(a, x, b, 1), 1.0 / 3, 1e-6);
    std::vector<float> const bad{1e30f, std::numeric_limits<float>::quiet_NaN()};
    EXPECT_EQ(normwise_backward_error<float>(a, bad, b, 1), infinity);
}

TEST(BackwardError, RefusesVectorsOfTheWrongSize) {
    auto const a = diagonal({1, 1});
    EXPECT_EQ(status_of([&] { normwise(a, {1}, {1, 1}); }), Status::usage);
    EXPECT_EQ(status_of([&] { normwise(a, {1, 1}, {1, 1, 1}); }), Status::usage);
    EXPECT_EQ(status_of([&] { componentwise(a, {1, 1}, {1, 1}, 2); }), Status::usage);
    EXPECT_EQ(
        status_of([&] { normwise({2, 3, Symmetry::general, {0, 0, 0, 0}, {}, {}}, {1, 1, 1}, {1, 1}); }),
        Status::usage);
}
