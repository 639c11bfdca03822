// Errors of solutions in one pass over a given matrix, which checks its pattern.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "common/matrices.hpp"
#include "distributed/given_residual.hpp"
#include "matrix/dense_reference.hpp"
#include "matrix/spmv.hpp"

using namespace espalier;
using namespace espalier::test;

namespace {

template <class T> class GivenResidualOf : public testing::Test {};
TYPED_TEST_SUITE(GivenResidualOf, Scalars);

class TwoWorkers {
  public:
    [[nodiscard]] RowWorkers workers(int count) {
        if (count == 1) return {};
        return {2, [this]() -> WorkerTeam& { return team_; }};
    }

  private:
    WorkerTeam team_{Topology::synthetic("numa:1 core:2 pu:1"), 2, false};
};

// The largest residual of op(R A C) y = R b, relative to the largest |op(R A C)| |y| + |R b|.
template <class T> double error_of_scaled(CscMatrix<T> const& a, std::vector<double> const& r,
                                          std::vector<double> const& c, std::vector<T> const& x,
                                          std::vector<T> const& b, MatrixOp op) {
    std::vector<T> residual(b);
    multiply<T>(op, T(-1), a, x, T(1), residual, 1);
    std::vector<Real<T>> size(b.size());
    DistributedMatrix<T>(a).abs_product(x, size, 1, op);
    auto const& row = op == MatrixOp::none ? r : c;
    double error = 0, largest = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        error = std::max(error, row[i] * static_cast<double>(std::abs(residual[i])));
        largest = std::max(largest, row[i] * static_cast<double>(size[i] + std::abs(b[i])));
    }
    return error / largest;
}

} // namespace

TYPED_TEST(GivenResidualOf, AGivenMatrixIsThatOfTheMatrix) {
    using T = TypeParam;
    TwoWorkers two;
    for (Symmetry const symmetry : all_symmetries)
        for (Index const n : {40, 700}) { // the larger one has entries for two workers
            auto const a = random_matrix<T>(n, n, symmetry, n > 100 ? 0.9 : 0.3, 5);
            PatternFingerprint const pattern(a);
            std::vector<double> r(n), c(n);
            for (Index i = 0; i < n; ++i) {
                r[i] = std::ldexp(1.0, static_cast<int>(i % 7) - 3);
                c[i] = std::ldexp(1.0, static_cast<int>(i % 4) - 2);
            }
            for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint})
                for (int const workers : {1, 2}) {
                    auto const x = random_vector<T>(n, 6);
                    std::vector<T> b = random_vector<T>(n, 7);
                    for (T& value : b) value *= Real<T>(0.01);
                    multiply<T>(op, T(1), a, x, T(1), b, 1);
                    BackwardErrors const expected = backward_errors<T>(a, x, b, op);
                    GivenResidual<T> given;
                    given.prepare(n, a.stored(), two.workers(workers));
                    auto const plain = given.errors(a, &pattern, {}, x, b, op, two.workers(workers));
                    auto const scaled = given.errors(a, &pattern, {r, c}, x, b, op, two.workers(workers));
                    ASSERT_TRUE(plain && scaled);
                    double const rounding = 100 * static_cast<double>(epsilon<T>);
                    for (auto const& found : {*plain, *scaled}) {
                        EXPECT_NEAR(found.normwise, expected.normwise, rounding);
                        EXPECT_NEAR(found.componentwise, expected.componentwise, rounding);
                        EXPECT_EQ(found.b_norm, expected.b_norm);
                    }
                    EXPECT_EQ(plain->before_unscaling, plain->normwise);
                    EXPECT_NEAR(scaled->before_unscaling, error_of_scaled(a, r, c, x, b, op), rounding);
                }
        }
}

TYPED_TEST(GivenResidualOf, AMatrixOfAnotherPatternIsNotRead) {
    using T = TypeParam;
    TwoWorkers two;
    auto const a = random_matrix<T>(600, 600, Symmetry::symmetric, 0.9, 5);
    PatternFingerprint const pattern(a);
    std::vector<T> const x(600, T(1));
    GivenResidual<T> given;
    auto const is_read = [&](CscMatrix<T> const& other) {
        bool const one = given.errors(other, &pattern, {}, x, x, MatrixOp::none, {}).has_value();
        EXPECT_EQ(given.errors(other, &pattern, {}, x, x, MatrixOp::none, two.workers(2)).has_value(), one);
        EXPECT_EQ(pattern.matches(other), one);
        return one;
    };
    EXPECT_TRUE(is_read(a));
    constexpr Index far = std::numeric_limits<Index>::max() / 2;
    for (std::size_t const entry : {std::size_t{0}, a.row_ind.size() / 2, a.row_ind.size() - 1})
        for (Index const row : {Index{-1}, a.row_ind[entry] + 1, far}) {
            auto other = a;
            other.row_ind[entry] = row;
            EXPECT_FALSE(is_read(other)) << entry << ", " << row;
        }
    for (std::size_t const column : {0, 1, 255, 256, 300, 600})
        for (Offset const pointer : {Offset{-7}, a.col_ptr[column] + 1, far}) {
            auto other = a;
            other.col_ptr[column] = pointer;
            EXPECT_FALSE(is_read(other)) << column << ", " << pointer;
        }
    auto other = a;
    other.symmetry = Symmetry::general;
    EXPECT_FALSE(is_read(other));
    other = a;
    other.col_ptr.pop_back();
    EXPECT_FALSE(is_read(other));
}

TEST(GivenResidual, OfNumbersThatAreNotFiniteIsInfinite) {
    auto const a = random_matrix<double>(50, 50, Symmetry::symmetric, 0.3, 5);
    PatternFingerprint const pattern(a);
    for (double const bad : {std::numeric_limits<double>::quiet_NaN(), infinity, 1e308})
        for (int const where : {0, 1, 2}) {
            auto matrix = a;
            std::vector<double> x(50, 1.0), b(50, 1.0);
            (where == 0 ? matrix.values[20] : where == 1 ? x[30] : b[49]) = bad;
            if (bad == 1e308 && where == 0) x.assign(50, 10.0);
            std::vector<double> const ones(50, 1.0);
            for (auto const& scales : {ScalesOfSystem{}, ScalesOfSystem{ones, ones}}) {
                auto const found =
                    GivenResidual<double>().errors(matrix, &pattern, scales, x, b, MatrixOp::none, {});
                ASSERT_TRUE(found);
                bool const overflows = bad != 1e308 || where == 0;
                EXPECT_EQ(!std::isfinite(found->normwise), overflows) << bad << ", " << where;
            }
        }
}
