#include "refine/extra_precise.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace espalier {
namespace {

// [1 1; 1 1 + d], whose inverse has entries of order 1/d.
CscMatrix<double> nearly_singular(double d) {
    return {2, 2, Symmetry::general, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1 + d}};
}

// The inverse for a `d` that is off by 20 %, as the factors of so ill-conditioned a matrix may be.
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
    auto const a = nearly_singular(0); // singular: no solution
    std::vector<double> const b{1, 2};
    std::vector<double> x(b);
    auto const inverse = poor_inverse(d);
    inverse(x, 1, MatrixOp::none);
    auto const before = x;
    EXPECT_EQ(refine_extra_precisely<double>(a, b, x, 1, inverse, MatrixOp::none), 0);
    EXPECT_EQ(x, before);
}

} // namespace
} // namespace espalier
