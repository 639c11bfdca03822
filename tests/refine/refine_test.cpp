#include "refine/refine.hpp"

#include <gtest/gtest.h>

#include <random>

#include "matrix/norms.hpp"

namespace espalier {
namespace {

// Tridiagonal with diagonal 4: Hermitian positive definite when `upper` is the conjugate of `lower`.
template <class T> CscMatrix<T> tridiagonal(Index n, T lower, T upper) {
    CscMatrix<T> a;
    a.rows = a.cols = n;
    a.col_ptr.clear();
    for (Index j = 0; j < n; ++j) {
        a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
        for (auto [i, value] : {std::pair{j - 1, upper}, std::pair{j, T(4)}, std::pair{j + 1, lower}}) {
            if (i < 0 || i >= n) continue;
            a.row_ind.push_back(i);
            a.values.push_back(value);
        }
    }
    a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
    return a;
}

template <class T> std::vector<T> ones(Index n) {
    return std::vector<T>(static_cast<std::size_t>(n), T(1));
}

// The inverse of the diagonal alone: a preconditioner that needs many steps.
template <class T> ApplyInverse<T> const diagonal_only = [](std::span<T> r, Index) {
    for (T& value : r) value /= T(4);
};

template <class T> RefineReport run(CscMatrix<T> const& a, RefineMethod method,
                                    ApplyInverse<T> const& inverse, int limit = 0, Index nrhs = 1) {
    std::vector<T> const b = ones<T>(a.cols * nrhs);
    std::vector<T> x(b.size(), T(0));
    RefineOptions options;
    options.method = method;
    options.max_iterations = limit;
    RefineReport const report = refine<T>(a, b, x, nrhs, inverse, options);
    EXPECT_DOUBLE_EQ(report.backward_error, normwise_backward_error<T>(a, x, b, nrhs));
    return report;
}

template <class T> class EveryScalar : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(EveryScalar, Scalars);

TYPED_TEST(EveryScalar, KrylovMethodsConvergeWithAPoorPreconditioner) {
    using T = TypeParam;
    auto const rounding = 4 * static_cast<double>(epsilon<T>);
    auto const unsymmetric = tridiagonal<T>(200, T(-1), T(Real<T>(-0.3)));
    EXPECT_LE(run<T>(unsymmetric, RefineMethod::gmres, diagonal_only<T>).backward_error, rounding);
    EXPECT_LE(run<T>(unsymmetric, RefineMethod::bicgstab, diagonal_only<T>).backward_error, 4 * rounding);
    EXPECT_LE(run<T>(unsymmetric, RefineMethod::gmres, diagonal_only<T>, 0, 3).backward_error, rounding);
}

TEST(Refine, ConjugateGradientsSolveAPositiveDefiniteSystem) {
    auto a = tridiagonal<double>(100, -1, 0); // the lower triangle
    a.symmetry = Symmetry::symmetric;
    auto const report = run<double>(a, RefineMethod::cg, diagonal_only<double>);
    EXPECT_LE(report.backward_error, 1e-14);
    EXPECT_EQ(report.method, RefineMethod::cg);
    EXPECT_GT(report.iterations, 3);
}

TEST(Refine, ConjugateGradientsRefuseAnUnsymmetricMatrix) {
    auto const a = tridiagonal<double>(10, -1, 0.5);
    EXPECT_THROW(run<double>(a, RefineMethod::cg, diagonal_only<double>), Error);
}

TEST(Refine, NoneOnlyMeasures) {
    auto const a = tridiagonal<double>(10, -1, 0.5);
    auto const report = run<double>(a, RefineMethod::none, diagonal_only<double>);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_DOUBLE_EQ(report.backward_error, 1); // x = 0: |b| / |b|
    EXPECT_FALSE(report.converged);
}

TEST(Refine, IrStopsWhereItNoLongerHalvesTheError) {
    auto const a = tridiagonal<double>(50, -1, -0.9);
    auto const report = run<double>(a, RefineMethod::ir, diagonal_only<double>, 3);
    EXPECT_LE(report.iterations, 3);
    EXPECT_LT(report.history.back(), report.history.front());
}

TEST(Refine, AutomaticGoesOnWithGmresWhereIrDiverges) {
    auto const a = tridiagonal<double>(60, -1, -0.9);
    // An inverse that is wrong by a factor of 3: ir's error grows, GMRES does not mind.
    ApplyInverse<double> const wrong = [](std::span<double> r, Index) {
        for (double& value : r) value *= 0.75;
    };
    auto const report = run<double>(a, RefineMethod::automatic, wrong);
    EXPECT_EQ(report.method, RefineMethod::gmres);
    EXPECT_LE(report.backward_error, 1e-14);
    EXPECT_TRUE(report.converged);
}

TEST(Refine, KeepsTheBetterIterateWhenTheInverseIsUseless) {
    auto const a = tridiagonal<double>(20, -1, -0.9);
    ApplyInverse<double> const nan = [](std::span<double> r, Index) {
        for (double& value : r) value = std::numeric_limits<double>::quiet_NaN();
    };
    for (RefineMethod const method :
         {RefineMethod::ir, RefineMethod::gmres, RefineMethod::bicgstab, RefineMethod::automatic}) {
        auto const report = run<double>(a, method, nan);
        EXPECT_DOUBLE_EQ(report.backward_error, 1) << to_string(method);
        EXPECT_FALSE(report.converged);
    }
}

} // namespace
} // namespace espalier
