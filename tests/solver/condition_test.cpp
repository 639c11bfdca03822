// Condition estimates and error bounds by factors of a perturbed matrix, though no pivot was replaced.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "matrix/spmv.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

// Expects the bound of the error to hold for a solution that has this error in the weakest direction of A.
void expect_true_bound(Solver<double>& solver, CscMatrix<double> const& a,
                       std::vector<double> const& weakest) {
    std::vector<double> exact(weakest.size()), b(weakest.size());
    for (std::size_t j = 0; j < b.size(); ++j) exact[j] = static_cast<double>(j % 5 + 1);
    multiply<double>(MatrixOp::none, 1, a, exact, 0, b);
    std::vector<double> x(b.size());
    for (std::size_t j = 0; j < b.size(); ++j) x[j] = exact[j] + 0x1p-20 * weakest[j];
    Options options = solver.options();
    options.condition = true;
    options.refine = RefineMethod::none;
    solver.set_options(options);
    double const bound = solver.refine(a, b, x).forward_error;
    double const error = 0x1p-20 * *std::ranges::max_element(weakest) / *std::ranges::max_element(x);
    EXPECT_GE(bound, 0.999 * error);
    EXPECT_LE(bound, 10 * error);
}

// The first pivot, 2^-33, is small and not replaced. The first unknown joins two nodes of a path with random
// weights. Its elimination adds 2^33 to their entries, so that the factors lose the shift of 2^-36.
TEST(ConditionOption, BoundsTheErrorOfANearlySingularMatrixWithGrowth) {
    Index const n = 40;
    std::vector<double> weights(n, 0.0);
    SplitMix64 random(5);
    for (Index i = 1; i + 1 < n; ++i) weights[i] = 1 + std::ldexp(std::round(random.uniform(0, 0x1p25)), -25);
    auto const a = matrix_of(n, Symmetry::symmetric, [&](Index i, Index j) -> double {
        if (j == 0) return i == 0 ? 0x1p-33 : i == 1 ? 1 : i == 2 ? -1 : 0;
        if (i == j) return weights[j - 1] + weights[j] + 0x1p-36;
        return i == j + 1 ? -weights[j] : 0;
    });
    std::vector<double> weakest(n, 1);
    weakest[0] = 0;
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
        Options options = one_column_at_a_time();
        options.factorization = kind;
        options.matching = options.scaling = Toggle::off;
        options.pivot_threshold = 1e-14;
        options.supernodes = Toggle::on;
        auto solver = factorized(a, options);
        EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
        expect_true_bound(solver, a, weakest);
    }
}

// A = T^H T with an upper triangular T that has 1 on the diagonal and -c above. No pivot is small, but A^-1
// grows as (1 + c)^2n. The entries of A are exact in double precision, and rounded in single.
TEST(ConditionOption, EstimatesTheConditionOfANearlySingularMatrixWithFactorsInSingle) {
    Index const n = 18;
    double const c = 1843 * 0x1p-11;
    auto const entry = [=](Index i, Index j) {
        return static_cast<double>(std::min(i, j)) * c * c + (i == j ? 1 : -c);
    };
    auto const a = matrix_of(n, Symmetry::symmetric, entry);
    double norm = 0;
    for (Index j = 0; j < n; ++j) {
        double of_column = 0;
        for (Index i = 0; i < n; ++i) of_column += std::abs(entry(i, j));
        norm = std::max(norm, of_column);
    }
    // T^-1 has no negative entries, so that |A^-1| is the largest entry of T^-1 T^-H (1, ..., 1).
    std::vector<double> y(n);
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
        y[i] = 1 + c * sum;
        sum += y[i];
    }
    sum = 0;
    for (Index i = n - 1; i >= 0; --i) {
        y[i] += c * sum;
        sum += y[i];
    }
    double const rcond = 1 / (norm * *std::ranges::max_element(y));
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
        Options options;
        options.factorization = kind;
        options.supernodes = Toggle::on;
        options.mixed_precision = true;
        auto solver = factorized(a, options);
        EXPECT_EQ(solver.report().factor.scalar, Scalar::s);
        EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
        double const found = solver.reciprocal_condition(a);
        EXPECT_GE(found, 0.9 * rcond);
        EXPECT_LE(found, 5 * rcond); // by these factors alone: 49 and 97 times as large
    }
}

} // namespace
} // namespace espalier
