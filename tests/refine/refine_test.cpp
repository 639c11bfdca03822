#include "refine/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dense.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/spmv.hpp"
#include "refine/condition.hpp"

namespace espalier {
namespace {

// A tridiagonal matrix with diagonal 4. It is Hermitian positive definite if `upper` is the conjugate of
// `lower`.
template <class T>
CscMatrix<T> tridiagonal(Index n, T lower, T upper, Symmetry symmetry = Symmetry::general) {
    return matrix_of<T>(n, symmetry, [=](Index i, Index j) {
        return i == j ? T(4) : i == j + 1 ? lower : i + 1 == j ? upper : T(0);
    });
}

// The inverse of the diagonal, a preconditioner that needs many steps.
template <class T> ApplyInverse<T> const diagonal_only = [](std::span<T> r, Index, MatrixOp) {
    for (T& value : r) value /= T(4);
};

template <class T> RefineReport run(CscMatrix<T> const& a, RefineMethod method,
                                    ApplyInverse<T> const& inverse, int limit = 0, Index nrhs = 1) {
    std::vector<T> const b(a.cols * nrhs, T(1));
    std::vector<T> x(b.size(), T(0));
    RefineOptions const options{.method = method, .max_iterations = limit};
    RefineReport const report = refine<T>(a, b, x, nrhs, inverse, options);
    EXPECT_DOUBLE_EQ(report.backward_error, normwise_backward_error<T>(a, x, b, nrhs));
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_EQ(report.history.back(), report.backward_error);
    EXPECT_TRUE(std::is_sorted(report.history.rbegin(), report.history.rend()));
    EXPECT_EQ(report.status, report.converged ? Status::ok : Status::inaccurate);
    EXPECT_EQ(report.forward_error, -1);
    return report;
}

template <class T> class RefineOf : public testing::Test {};
using test::Scalars;
TYPED_TEST_SUITE(RefineOf, Scalars);

TYPED_TEST(RefineOf, KrylovMethodsConvergeWithAPoorPreconditioner) {
    using T = TypeParam;
    auto const rounding = 4 * static_cast<double>(epsilon<T>);
    auto const unsymmetric = tridiagonal<T>(200, T(-1), T(Real<T>(-0.3)));
    EXPECT_LE(run<T>(unsymmetric, RefineMethod::gmres, diagonal_only<T>).backward_error, rounding);
    EXPECT_LE(run<T>(unsymmetric, RefineMethod::bicgstab, diagonal_only<T>).backward_error, 4 * rounding);
    EXPECT_LE(run<T>(unsymmetric, RefineMethod::gmres, diagonal_only<T>, 0, 3).backward_error, rounding);
}

TEST(Refine, ConjugateGradientsSolveAPositiveDefiniteSystem) {
    auto const a = tridiagonal<double>(100, -1, -1, Symmetry::symmetric);
    auto const report = run<double>(a, RefineMethod::cg, diagonal_only<double>);
    EXPECT_LE(report.backward_error, 1e-14);
    EXPECT_EQ(report.method, RefineMethod::cg);
    EXPECT_GT(report.iterations, 3);
}

TEST(Refine, ConjugateGradientsRefuseAnUnsymmetricMatrix) {
    auto const a = tridiagonal<double>(10, -1, 0.5);
    EXPECT_THROW(run<double>(a, RefineMethod::cg, diagonal_only<double>), Error);
}

TEST(Refine, ErrorsNeedTheMemoryOfResiduals) {
    for (bool const is_scaled : {false, true})
        EXPECT_EQ(error_bytes<double>(1000, 300'000, 2, is_scaled),
                  DistributedMatrix<double>::residual_bytes(1000, 300'000, 2, is_scaled));
    EXPECT_GT(error_bytes<double>(1000, 300'000, 2, false), 0U);
}

TEST(Refine, MethodNoneOnlyMeasuresErrors) {
    auto const a = tridiagonal<double>(10, -1, 0.5);
    auto const report = run<double>(a, RefineMethod::none, diagonal_only<double>);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_DOUBLE_EQ(report.backward_error, 1); // x = 0: |b| / |b|
    EXPECT_FALSE(report.converged);
}

TEST(Refine, IrStopsWhenItNoLongerHalvesTheError) {
    auto const a = tridiagonal<double>(50, -1, -0.9);
    auto const report = run<double>(a, RefineMethod::ir, diagonal_only<double>, 3);
    EXPECT_LE(report.iterations, 3);
    EXPECT_LT(report.history.back(), report.history.front());
}

TEST(Refine, AutomaticContinuesWithGmresIfIrDiverges) {
    auto const a = tridiagonal<double>(60, -1, -0.9);
    // The inverse is wrong by a factor of 3. The error of ir grows, while GMRES is not affected.
    ApplyInverse<double> const wrong = [](std::span<double> r, Index, MatrixOp) {
        for (double& value : r) value *= 0.75;
    };
    auto const report = run<double>(a, RefineMethod::automatic, wrong);
    EXPECT_EQ(report.method, RefineMethod::gmres);
    EXPECT_LE(report.backward_error, 1e-14);
    EXPECT_TRUE(report.converged);
}

TEST(Refine, KeepsTheBetterIterateWhenTheInverseIsUseless) {
    auto const a = tridiagonal<double>(20, -1, -0.9);
    ApplyInverse<double> const nan = [](std::span<double> r, Index, MatrixOp) {
        for (double& value : r) value = std::numeric_limits<double>::quiet_NaN();
    };
    for (RefineMethod const method :
         {RefineMethod::ir, RefineMethod::gmres, RefineMethod::bicgstab, RefineMethod::automatic}) {
        auto const report = run<double>(a, method, nan);
        EXPECT_DOUBLE_EQ(report.backward_error, 1) << to_string(method);
        EXPECT_FALSE(report.converged);
    }
}

constexpr RefineMethod all_methods[] = {RefineMethod::ir, RefineMethod::gmres, RefineMethod::bicgstab,
                                        RefineMethod::automatic, RefineMethod::cg};

TYPED_TEST(RefineOf, EveryMethodSolvesWithEveryOp) {
    using T = TypeParam;
    Index const nrhs = 3;
    for (Symmetry const symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::hermitian}) {
        test::DisturbedSystem<T> const system(symmetry);
        for (RefineMethod const method : all_methods)
            for (MatrixOp const op : test::all_ops) {
                SCOPED_TRACE(testing::Message() << to_string(method) << " " << to_string(op));
                bool const hermitian =
                    symmetry == Symmetry::hermitian || (symmetry == Symmetry::symmetric && !is_complex<T>);
                if (method == RefineMethod::ir || (method == RefineMethod::cg && !hermitian)) continue;
                auto const b = test::random_vector<T>(system.a.cols * nrhs, 8);
                std::vector<T> x(b.size(), T(0));
                RefineOptions const options{.method = method, .op = op};
                auto const report = refine<T>(system.a, b, x, nrhs, system.lu.apply(), options);
                EXPECT_LE(report.backward_error, 20 * static_cast<double>(epsilon<T>));
                EXPECT_DOUBLE_EQ(report.backward_error, normwise_backward_error<T>(system.a, x, b, nrhs, op));
                EXPECT_DOUBLE_EQ(report.componentwise_error,
                                 componentwise_backward_error<T>(system.a, x, b, nrhs, op));
                auto const bounds = forward_error_bounds<T>(system.a, b, x, nrhs, system.lu.apply(), op);
                EXPECT_LE(std::ranges::max(bounds), 1e3 * static_cast<double>(epsilon<T>));
                EXPECT_TRUE(report.converged);
            }
    }
}

TEST(Refine, ColumnsLeaveTheBlockOneAfterAnother) {
    // The right-hand sides contain 0, 1, ... of the unknowns in which the inverse is wrong.
    test::DisturbedSystem<double> const system(Symmetry::general);
    Index const n = system.a.cols, nrhs = 4;
    std::vector<double> b(static_cast<std::size_t>(n * nrhs)), x(b.size(), 0.0);
    for (RefineMethod const method : {RefineMethod::gmres, RefineMethod::bicgstab}) {
        auto const exact = test::random_vector<double>(n, 3);
        multiply<double>(MatrixOp::none, 1, system.a, exact, 0, std::span(b).first(n));
        for (Index k = 1; k < nrhs; ++k) // column 1 is zero, and the others are difficult
            for (Index i = 0; i < n; ++i)
                b[static_cast<std::size_t>(k * n + i)] = k == 1 ? 0.0 : std::sin(static_cast<double>(i * k));
        std::fill(x.begin(), x.end(), 0.0);
        std::copy(exact.begin(), exact.end(), x.begin()); // column 0 starts with its solution
        std::vector<Index> widths;
        ApplyInverse<double> const counting = [&](std::span<double> block, Index columns, MatrixOp op) {
            widths.push_back(columns);
            system.lu.apply()(block, columns, op);
        };
        RefineOptions const options{.method = method};
        auto const report = refine<double>(system.a, b, x, nrhs, counting, options);
        EXPECT_LE(report.backward_error, 1e-14);
        ASSERT_FALSE(widths.empty());
        EXPECT_EQ(widths.front(), 2);
        EXPECT_LE(*std::max_element(widths.begin(), widths.end()), 2);
        // Both columns share one blocked solve for each step, and one at the end of a cycle.
        EXPECT_LE(widths.size(), static_cast<std::size_t>(2 * report.iterations + 2));
    }
}

TEST(Refine, AColumnIsSolvedTheSameWayAloneAndInABlock) {
    test::DisturbedSystem<std::complex<double>> const system(Symmetry::hermitian);
    Index const n = system.a.cols, nrhs = 5;
    auto const length = static_cast<std::size_t>(n);
    auto const b = test::random_vector<std::complex<double>>(n * nrhs, 12);
    for (RefineMethod const method : all_methods) {
        RefineOptions const options{.method = method};
        std::vector<std::complex<double>> together(b.size()), alone(b.size());
        refine<std::complex<double>>(system.a, b, together, nrhs, system.lu.apply(), options);
        for (Index k = 0; k < nrhs; ++k)
            refine<std::complex<double>>(system.a, std::span(b).subspan(k * length, length),
                                         std::span(alone).subspan(k * length, length), 1, system.lu.apply(),
                                         options);
        EXPECT_EQ(together, alone) << to_string(method);
    }
}

TEST(Refine, GmresResolvesReplacedPivotsInAsManySteps) {
    std::vector<double> sigma(60, 1.0);
    auto dense = test::with_singular_values<double>(sigma, 2);
    auto const a = test::to_sparse(dense);
    for (Index const j : {5, 17, 33, 50}) dense(j, j) += 1e6;
    test::DenseLu<double> const lu(dense);
    auto const report = run<double>(a, RefineMethod::automatic, lu.apply(), 0, 3);
    EXPECT_EQ(report.method, RefineMethod::gmres);
    EXPECT_LE(report.backward_error, 1e-14);
    EXPECT_LE(report.iterations, 30);
}

// The backward error of this x is small because x is large. From zero, two steps solve the system. From x,
// cancellation would leave a residual that needs further steps.
TEST(Refine, IncompleteFactorsThatGiveALargeXAreNoStart) {
    auto const a = matrix_from<double>(Symmetry::symmetric, {{1, -1}, {-1, 1 + 1e-6}});
    ApplyInverse<double> const identity = [](std::span<double>, Index, MatrixOp) {};
    std::vector<double> const b{1, 1};
    for (auto const method : {RefineMethod::cg, RefineMethod::gmres}) {
        std::vector<double> x{1e13, 1e13};
        ASSERT_LT(normwise_backward_error<double>(a, x, b, 1), 1e-6);
        RefineOptions const options{.method = method, .inverse = InverseAccuracy::incomplete};
        RefineReport const report = refine<double>(a, b, x, 1, identity, options);
        EXPECT_TRUE(report.converged) << to_string(method);
        EXPECT_LE(report.iterations, 2) << to_string(method);
    }
}

TEST(Refine, KrylovMethodsRestart) {
    auto const a = tridiagonal<double>(400, -2, -1.9); // needs more steps than a limit of 12 gives
    auto const first = run<double>(a, RefineMethod::gmres, diagonal_only<double>, 12);
    EXPECT_EQ(first.iterations, 12);
    EXPECT_FALSE(first.converged);
    EXPECT_LT(first.backward_error, 0.2);
}

TEST(Refine, SolvesSystemsOfExtremeScale) {
    auto const a = tridiagonal<double>(50, -1, -0.9);
    for (double const scale : {1e-250, 1e-160, 1e160, 1e250})
        for (RefineMethod const method :
             {RefineMethod::gmres, RefineMethod::bicgstab, RefineMethod::automatic}) {
            std::vector<double> b(50, scale), x(50, 0.0);
            RefineOptions const options{.method = method};
            auto const report = refine<double>(a, b, x, 1, diagonal_only<double>, options);
            EXPECT_LE(report.backward_error, 1e-14) << scale << to_string(method);
        }
}

TEST(Refine, NumbersThatAreNotFiniteNeitherConvergeNorHang) {
    auto const a = tridiagonal<double>(30, -1, -0.9);
    auto const hermitian = tridiagonal<double>(30, -1, -1, Symmetry::symmetric);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (RefineMethod const method : all_methods)
        for (double const bad : {std::numeric_limits<double>::quiet_NaN(), infinity}) {
            auto const& matrix = method == RefineMethod::cg ? hermitian : a;
            RefineOptions const options{.method = method};
            // One right-hand side is not finite. The other one is solved.
            std::vector<double> b(60, 1.0), x(60, 0.0);
            b[7] = bad;
            auto report = refine<double>(matrix, b, x, 2, diagonal_only<double>, options);
            EXPECT_EQ(report.backward_error, infinity);
            EXPECT_FALSE(report.converged);
            EXPECT_EQ(report.status, Status::inaccurate);
            double const other = normwise_backward_error<double>(matrix, std::span<double const>(x).last(30),
                                                                 std::span<double const>(b).last(30));
            EXPECT_LE(other, method == RefineMethod::ir ? 1e-2 : 1e-13) << to_string(method);
            // The matrix is not finite.
            auto broken = matrix;
            broken.values[10] = bad;
            b[7] = 1;
            report = refine<double>(broken, b, x, 2, diagonal_only<double>, options);
            EXPECT_FALSE(report.converged);
            // The initial x is not finite. Krylov methods restart from zero.
            std::fill(x.begin(), x.end(), bad);
            report = refine<double>(matrix, b, x, 2, diagonal_only<double>, options);
            EXPECT_EQ(report.converged, method != RefineMethod::ir) << to_string(method);
        }
}

TEST(Refine, LeavesXUnchangedWhenCancelled) {
    auto const a = tridiagonal<double>(30, -0.5, -0.4);
    for (RefineMethod const method : {RefineMethod::ir, RefineMethod::gmres, RefineMethod::bicgstab}) {
        Interrupt interrupt;
        int solves = 0;
        ApplyInverse<double> const stopping = [&](std::span<double> block, Index columns, MatrixOp op) {
            if (++solves == 2) interrupt.request();
            diagonal_only<double>(block, columns, op);
        };
        RefineOptions const options{.method = method, .interrupt = &interrupt};
        auto const given = test::random_vector<double>(60, 1);
        std::vector<double> const b(60, 1.0);
        auto x = given;
        EXPECT_EQ(status_of([&] { refine<double>(a, b, x, 2, stopping, options); }), Status::cancelled);
        EXPECT_LE(solves, 3);
        EXPECT_EQ(x, given);
    }
}

TEST(Refine, ConvergesForTheEmptySystem) {
    std::vector<double> none;
    RefineOptions const options;
    auto const empty = refine<double>(CscMatrix<double>(), none, none, 1, diagonal_only<double>, options);
    EXPECT_TRUE(empty.converged);
    auto const a = tridiagonal<double>(30, -1, -0.9);
    EXPECT_TRUE(refine<double>(a, none, none, 0, diagonal_only<double>, options).converged);
    std::vector<double> b(29), x(30);
    EXPECT_THROW(refine<double>(a, b, x, 1, diagonal_only<double>, options), Error);
}

// The matrix [1 1; 1 1 + d], whose inverse has entries of order 1/d.
CscMatrix<double> nearly_singular(double d) {
    return {2, 2, Symmetry::general, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1 + d}};
}

// The inverse for a `d` that is wrong by 20 %, as the factors of such an ill-conditioned matrix may be.
ApplyInverse<double> poor_inverse(double d) {
    return [d](std::span<double> block, Index columns, MatrixOp) {
        for (Index j = 0; j < columns; ++j) {
            double& p = block[static_cast<std::size_t>(2 * j)];
            double& q = block[static_cast<std::size_t>(2 * j) + 1];
            double const second = (q - p) / (1.2 * d);
            p -= second;
            q = second;
        }
    };
}

TEST(ExtraPrecise, FindsAllDigitsWithAPoorInverse) {
    double const d = std::ldexp(1.0, -48); // condition number 1e15
    auto const a = nearly_singular(d);
    std::vector<double> const b{1, 2, 3, 3};
    std::vector<double> x(b);
    auto const inverse = poor_inverse(d);
    inverse(x, 2, MatrixOp::none);
    int const steps = refine_extra_precisely<double>(a, b, x, 2, inverse, MatrixOp::none);
    EXPECT_GT(steps, 5);
    EXPECT_LE(std::abs(x[1] - 1 / d), 4e-16 / d);
    EXPECT_LE(std::abs(x[0] - (1 - 1 / d)), 4e-16 / d);
    EXPECT_EQ(x[2], 3);
    EXPECT_EQ(x[3], 0);
}

TEST(ExtraPrecise, LeavesXAloneWhenCorrectionsDoNotShrink) {
    double const d = std::ldexp(1.0, -48);
    auto const a = nearly_singular(0); // is singular, so there is no solution
    std::vector<double> const b{1, 2};
    std::vector<double> x(b);
    auto const inverse = poor_inverse(d);
    inverse(x, 1, MatrixOp::none);
    auto const before = x;
    EXPECT_EQ(refine_extra_precisely<double>(a, b, x, 1, inverse, MatrixOp::none), 0);
    EXPECT_EQ(x, before);
}

TEST(DecisiveErrors, AreThoseAboveTheTolerance) {
    RefineReport report;
    report.backward_error = 1e-13;
    report.history = {1e-3, 2e-12};
    EXPECT_TRUE(decisive_error(report, 1e-12).is_scaled);
    EXPECT_EQ(decisive_error(report, 1e-12).value, 2e-12);
    EXPECT_FALSE(decisive_error(report, 1e-14).is_scaled);
    EXPECT_EQ(decisive_error(report, 1e-14).value, 1e-13);
}

// The second row is small, so an error of its unknown hardly shows in the norm of the residual.
CscMatrix<double> with_small_row() {
    double const small = std::ldexp(1.0, -50);
    return {2, 2, Symmetry::general, {0, 2, 3}, {0, 1, 1}, {1, small, small}};
}

// The inverse of this matrix, but for a relative error of the second unknown.
ApplyInverse<double> inverse_with_error(double error) {
    return [error](std::span<double> block, Index columns, MatrixOp) {
        for (Index j = 0; j < columns; ++j) {
            double& second = block[static_cast<std::size_t>(2 * j) + 1];
            second = (std::ldexp(second, 50) - block[static_cast<std::size_t>(2 * j)]) * (1 + error);
        }
    };
}

TEST(RowsOfASystem, AreRefinedUntilAllAreSatisfied) {
    auto const matrix = with_small_row();
    DistributedMatrix<double> const a(matrix);
    double const small = std::ldexp(1.0, -50);
    std::vector<double> const b{1, 3 * small, 1, small}; // solutions (1, 2) and (1, 0)
    std::vector<double> x{1, 2.5, 1, 0};
    EXPECT_LE(normwise_backward_error<double>(a, std::span<double const>(x).first(2),
                                              std::span<double const>(b).first(2), 1, MatrixOp::none),
              1e-15);
    int const steps = refine_rows<double>(a, b, x, 2, inverse_with_error(0.01), MatrixOp::none);
    EXPECT_GE(steps, 3);
    EXPECT_LE(steps, 5);
    EXPECT_NEAR(x[1], 2, 1e-7);
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(x[2], 1);
    EXPECT_EQ(x[3], 0);
}

TEST(RowsOfASystem, StayWhenAStepDoesNotHalveTheError) {
    auto const matrix = with_small_row();
    DistributedMatrix<double> const a(matrix);
    std::vector<double> const b{1, std::ldexp(3.0, -50)};
    std::vector<double> x{1, 2.5};
    EXPECT_EQ(refine_rows<double>(a, b, x, 1, inverse_with_error(-0.9), MatrixOp::none), 0);
    EXPECT_EQ(x, (std::vector<double>{1, 2.5}));
}

} // namespace
} // namespace espalier
