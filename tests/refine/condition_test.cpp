#include "refine/condition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dense.hpp"
#include "refine/norm_estimate.hpp"

namespace espalier {
namespace {

using test::all_ops, test::DenseLu, test::Extended, test::hilbert, test::random_square, test::Dense,
    test::to_dense, test::to_sparse;

template <class T> double true_reciprocal_condition(CscMatrix<T> const& a) {
    auto const dense = to_dense<Extended<T>>(a);
    return 1 / (one_norm(dense) * one_norm(test::inverse(dense)));
}

template <class T> double estimated_reciprocal_condition(CscMatrix<T> const& a) {
    DenseLu<T> const lu(to_dense<T>(a));
    return reciprocal_condition<T>(a, lu.apply()).rcond;
}

// A matrix whose rows and columns have very different sizes.
template <class T> Dense<T> graded(Index n, std::uint64_t seed, Real<T> ratio) {
    auto a = random_square<T>(n, seed);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            a(i, j) *= std::pow(ratio, static_cast<Real<T>>(i) + static_cast<Real<T>>(j) / 2);
    return a;
}

// The estimate of |A^-1| is a lower bound, so the reciprocal condition number is an upper bound.
template <class T> void expect_good_estimate(CscMatrix<T> const& a, double slack = 1.1) {
    double const truth = true_reciprocal_condition(a);
    double const estimate = estimated_reciprocal_condition(a);
    EXPECT_GE(estimate, truth / slack);
    EXPECT_LE(estimate, 4 * truth);
}

template <class T> class ConditionOf : public testing::Test {};
template <class T> class ForwardErrorOf : public testing::Test {};
using test::Scalars;
TYPED_TEST_SUITE(ConditionOf, Scalars);
TYPED_TEST_SUITE(ForwardErrorOf, Scalars);

TYPED_TEST(ConditionOf, RandomMatricesIsEstimatedWithinAFactorOfFour) {
    using T = TypeParam;
    for (Index const n : {9, 10, 20, 50})
        for (std::uint64_t seed = 0; seed < 25; ++seed) {
            SCOPED_TRACE(testing::Message() << "n " << n << " seed " << seed);
            expect_good_estimate(to_sparse(random_square<T>(n, seed)));
        }
}

TYPED_TEST(ConditionOf, TinyMatricesIsExact) {
    using T = TypeParam;
    for (Index const n : {1, 2, 3, 8})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            auto const a = to_sparse(random_square<T>(n, seed));
            double const truth = true_reciprocal_condition(a);
            EXPECT_NEAR(estimated_reciprocal_condition(a), truth, 1e-2 * truth);
        }
}

TYPED_TEST(ConditionOf, SymmetricAndHermitianTriangles) {
    using T = TypeParam;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        std::vector<double> const sigma{1, -2, 0.01, 3, 0.5, 1, -1, 4, 2, -0.3, 0.7, 1};
        auto const hermitian = test::with_singular_values<T>(sigma, seed, true);
        expect_good_estimate(to_sparse(hermitian, is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric));
        auto symmetric = random_square<T>(30, seed); // uses the lower triangle, without conjugation
        expect_good_estimate(to_sparse(symmetric, Symmetry::symmetric));
    }
}

TYPED_TEST(ConditionOf, IllConditionedMatrices) {
    using T = TypeParam;
    bool const is_single = sizeof(Real<T>) == sizeof(float);
    expect_good_estimate(to_sparse(hilbert<T>(is_single ? 4 : 10)), 1.5);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        expect_good_estimate(to_sparse(graded<T>(12, seed, Real<T>(is_single ? 0.7 : 0.2))), 1.5);
        for (double const smallest : {1e-3, is_single ? 1e-5 : 1e-12}) {
            std::vector<double> sigma(30, 1.0);
            sigma[7] = smallest;
            expect_good_estimate(to_sparse(test::with_singular_values<T>(sigma, seed)), 1.5);
        }
    }
}

TEST(Condition, IsSeenThroughReplacedPivots) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        std::vector<double> sigma(40, 1.0);
        sigma[3] = 1e-12;
        auto const a = to_sparse(test::with_singular_values<double>(sigma, seed));
        DenseLu<double> const lu(to_dense<double>(a), 1e-7);
        ASSERT_EQ(lu.replaced(), 1);
        double const truth = true_reciprocal_condition(a);
        double const estimate = reciprocal_condition<double>(a, lu.apply()).rcond;
        EXPECT_GE(estimate, truth / 2);
        EXPECT_LE(estimate, 10 * truth);
    }
}

// For instance, refinement by the factors of another matrix may diverge.
TEST(Condition, IsNotSmallBecauseTheInverseIsTooLarge) {
    for (Index const n : {5, 30}) {
        auto const a = to_sparse(random_square<double>(n, 3));
        DenseLu<double> const lu(to_dense(a));
        auto const too_large = [&](std::span<double> block, Index columns, MatrixOp op) {
            lu.apply()(block, columns, op);
            for (double& value : block) value *= 100;
        };
        double const truth = true_reciprocal_condition(a);
        EXPECT_GE(reciprocal_condition<double>(a, too_large).rcond, truth / 2.1);
        EXPECT_LE(reciprocal_condition<double>(a, too_large).rcond, truth * 2);
    }
}

TEST(Condition, IsSureOnlyIfProductsWithTheInverseAreRight) {
    for (Index const n : {5, 40}) {
        std::vector<double> sigma(n, 1.0);
        auto const with_smallest = [&](double smallest) {
            sigma[3] = smallest;
            return to_sparse(test::with_singular_values<double>(sigma, 7));
        };
        auto const a = with_smallest(1e-9);
        auto const estimate_by = [&](CscMatrix<double> const& factorized) {
            DenseLu<double> const lu(to_dense(factorized));
            return reciprocal_condition<double>(a, lu.apply());
        };
        EXPECT_TRUE(estimate_by(a).is_sure);
        EXPECT_FALSE(estimate_by(with_smallest(1e-6)).is_sure);
        EXPECT_FALSE(estimate_by(with_smallest(1e-12)).is_sure);
    }
}

TEST(Condition, IsSureIfTheMatrixIsSingular) {
    for (Index const n : {5, 40}) {
        std::vector<double> sigma(n, 1.0);
        sigma[3] = 1e-18;
        auto const a = to_sparse(test::with_singular_values<double>(sigma, 7));
        DenseLu<double> const lu(to_dense(a));
        ConditionEstimate const estimate = reciprocal_condition<double>(a, lu.apply());
        EXPECT_TRUE(estimate.is_sure);
        EXPECT_LE(estimate.rcond, 1e-14);
    }
}

TEST(Condition, IsOneForTheIdentityAndTheEmptyMatrix) {
    Dense<double> identity(20);
    for (Index i = 0; i < 20; ++i) identity(i, i) = 1;
    EXPECT_DOUBLE_EQ(estimated_reciprocal_condition(to_sparse(identity)), 1);
    EXPECT_DOUBLE_EQ(estimated_reciprocal_condition(CscMatrix<double>()), 1);
}

TEST(Condition, IsZeroIfTheFactorsBreakDown) {
    auto const a = to_sparse(random_square<double>(20, 1));
    for (double const bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        ApplyInverse<double> const broken = [bad](std::span<double> block, Index, MatrixOp) {
            std::fill(block.begin(), block.end(), bad);
        };
        EXPECT_EQ(reciprocal_condition<double>(a, broken).rcond, 0);
    }
    CscMatrix<double> const zero{3, 3, Symmetry::general, {0, 0, 0, 0}, {}, {}};
    ApplyInverse<double> const nothing = [](std::span<double>, Index, MatrixOp) {};
    EXPECT_EQ(reciprocal_condition<double>(zero, nothing).rcond, 0);
}

TEST(Condition, DoesNotOverflowIfNormsDo) {
    for (double const scale : {1e-300, 1e300}) {
        auto dense = random_square<double>(12, 5);
        for (double& value : dense.values) value *= scale;
        expect_good_estimate(to_sparse(dense));
    }
}

TEST(Condition, CanBeCancelled) {
    auto const a = to_sparse(random_square<double>(20, 1));
    DenseLu<double> const lu(to_dense<double>(a));
    Interrupt interrupt;
    interrupt.request();
    EXPECT_THROW(reciprocal_condition<double>(a, lu.apply(), &interrupt), Error);
}

TEST(NormEstimate, SeesThroughCancellationInAllOnes) {
    // B e = 0 for all-ones e, and B has columns of very different norms.
    Index const n = 30;
    Dense<double> b(n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            b(i, j) = (i == 4 ? 100.0 : 1.0) * (j == 17 ? static_cast<double>(n - 1) : -1.0);
    auto const times = [&](bool adjoint) {
        return BlockProduct<double>([&b, adjoint](std::span<double> block, Index, std::span<Index const>) {
            for (Index c = 0; c < std::ssize(block); c += n) {
                std::vector<double> const x(block.begin() + c, block.begin() + c + n);
                for (Index i = 0; i < n; ++i) {
                    double sum = 0;
                    for (Index j = 0; j < n; ++j) sum += (adjoint ? b(j, i) : b(i, j)) * x[j];
                    block[c + i] = sum;
                }
            }
        });
    };
    for (Index const width : {1, 2, 3, 4})
        EXPECT_NEAR(
            estimate_one_norms<double>(DistributedRows(n), 1, width, times(false), times(true), nullptr)[0],
            one_norm(b), 1e-9 * one_norm(b));
}

// The product with the adjoint overflows, or is not a number, although the product with the matrix is finite.
TEST(NormEstimate, IsInfiniteIfAProductWithTheAdjointIsNotFinite) {
    for (double const value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
        BlockProduct<double> const finite = [](std::span<double>, Index, std::span<Index const>) {};
        BlockProduct<double> const adjoint = [value](std::span<double> block, Index, std::span<Index const>) {
            std::ranges::fill(block, value);
        };
        for (Index const width : {1, 2, 4})
            EXPECT_EQ(estimate_one_norms<double>(DistributedRows(20), 2, width, finite, adjoint, nullptr),
                      std::vector<double>(2, infinity));
    }
}

// The forward errors, computed from a solution in extended precision.
template <class T>
double true_error(CscMatrix<T> const& a, std::span<T const> b, std::span<T const> x, MatrixOp op) {
    using X = Extended<T>;
    auto const dense = to_dense<X>(a, op);
    std::vector<X> r(b.begin(), b.end());
    for (Index i = 0; i < a.cols; ++i)
        for (Index j = 0; j < a.cols; ++j) r[i] -= dense(i, j) * X(x[j]);
    DenseLu<X>(dense).solve(r.data(), MatrixOp::none);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        error = std::max(error, static_cast<double>(std::abs(r[i])));
        size = std::max(size, static_cast<double>(std::abs(x[i])));
    }
    return error / size;
}

template <class T> void expect_good_bounds(CscMatrix<T> const& a, std::uint64_t seed, Index nrhs) {
    auto const n = static_cast<std::size_t>(a.cols);
    DenseLu<T> const lu(to_dense<T>(a));
    auto const b = test::random_vector<T>(a.cols * nrhs, seed + 1000);
    for (MatrixOp const op : all_ops) {
        auto x = b;
        lu.apply()(x, nrhs, op);
        auto const bounds = forward_error_bounds<T>(a, b, x, nrhs, lu.apply(), op);
        ASSERT_EQ(bounds.size(), static_cast<std::size_t>(nrhs));
        for (std::size_t k = 0; k < bounds.size(); ++k) {
            double const truth =
                true_error<T>(a, std::span(b).subspan(k * n, n), std::span(x).subspan(k * n, n), op);
            EXPECT_GE(bounds[k], 0.9 * truth); // the reference has only three digits more
            EXPECT_LE(bounds[k], 2 * truth);
        }
    }
}

TYPED_TEST(ForwardErrorOf, RandomAndIllConditionedSystemsIsBoundedTightly) {
    using T = TypeParam;
    bool const is_single = sizeof(Real<T>) == sizeof(float);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        expect_good_bounds(to_sparse(random_square<T>(40, seed)), seed, 3);
        expect_good_bounds(to_sparse(graded<T>(12, seed, Real<T>(is_single ? 0.8 : 0.3))), seed, 2);
        expect_good_bounds(to_sparse(random_square<T>(20, seed), Symmetry::symmetric), seed, 2);
        std::vector<double> sigma(25, 1.0);
        sigma[7] = is_single ? 1e-3 : 1e-9;
        expect_good_bounds(to_sparse(test::with_singular_values<T>(sigma, seed)), seed, 2);
    }
}

TEST(ForwardError, IsTinyForAnExactSolutionAndCoversTheErrorOfAWrongOne) {
    Dense<double> dense(4);
    for (Index i = 0; i < 4; ++i) dense(i, i) = static_cast<double>(1 << i);
    auto const a = to_sparse(dense);
    DenseLu<double> const lu(dense);
    std::vector<double> const b{1, 2, 4, 8};
    std::vector<double> x{1, 1, 1, 1};
    EXPECT_LE(forward_error_bounds<double>(a, b, x, 1, lu.apply(), MatrixOp::none)[0], 1e-30);
    x[3] = 2;
    EXPECT_DOUBLE_EQ(forward_error_bounds<double>(a, b, x, 1, lu.apply(), MatrixOp::none)[0], 0.5);
}

TEST(ForwardError, IsInfiniteForNumbersThatAreNotFinite) {
    auto const dense = random_square<double>(12, 3);
    auto const a = to_sparse(dense);
    DenseLu<double> const lu(dense);
    std::vector<double> const b = test::random_vector<double>(12, 4);
    for (double const bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        std::vector<double> x(12, 1.0), bad_b = b;
        x[5] = bad;
        bad_b[5] = bad;
        EXPECT_TRUE(std::isinf(forward_error_bounds<double>(a, b, x, 1, lu.apply(), MatrixOp::none)[0]));
        x[5] = 1;
        EXPECT_TRUE(std::isinf(forward_error_bounds<double>(a, bad_b, x, 1, lu.apply(), MatrixOp::none)[0]));
    }
    std::vector<double> const zero(12, 0.0);
    EXPECT_TRUE(std::isinf(forward_error_bounds<double>(a, b, zero, 1, lu.apply(), MatrixOp::none)[0]));
    EXPECT_EQ(forward_error_bounds<double>(a, zero, zero, 1, lu.apply(), MatrixOp::none)[0], 0);
}

} // namespace
} // namespace espalier
