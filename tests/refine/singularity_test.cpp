#include "refine/singularity.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <span>

#include "common/matrices.hpp"

namespace espalier {
namespace {

// A = [1 1; 1 1] has the null vector (1, -1).
bool grows(std::vector<double> const& b, std::vector<double> const& x) {
    auto const a = matrix_of(2, Symmetry::general, [](Index, Index) { return 1.0; });
    return grows_as_singular<double>(DistributedMatrix<double>(a), b, x, 1, MatrixOp::none);
}

TEST(Growth, OfASolutionShowsSingularity) {
    EXPECT_TRUE(grows({1, 1}, {1e20, -1e20}));
    EXPECT_FALSE(grows({2, 2}, {1, 1}));
    EXPECT_FALSE(grows({2e20, 2e20}, {1e20, 1e20})) << "a large solution that solves its system";
}

TEST(Growth, OfNumbersThatAreNotFiniteShowsNothing) {
    double const inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    for (double const value : {inf, nan}) {
        EXPECT_FALSE(grows({1, -1}, {value, -value})) << value;
        EXPECT_FALSE(grows({value, -1}, {1e20, -1e20})) << value;
    }
}

// The inverse of A = [1 1; 1 1 + e], applied to A (1, 1), gives (1, 1) without rounding, far from the weakest
// direction (1, -1). The iteration must not start there.
TEST(WeakestDirection, IsFoundInAMatrixWithoutNegativeEntries) {
    double const e = 0x1p-40;
    auto const a =
        matrix_of(2, Symmetry::general, [&](Index i, Index j) { return i * j == 1 ? 1 + e : 1.0; });
    auto const apply_inverse = [&](std::span<double> y, Index, MatrixOp) {
        double const difference = (y[1] - y[0]) / e;
        y[0] -= difference;
        y[1] = difference;
    };
    WeakestDirection const weakest = weakest_direction<double>(DistributedMatrix<double>(a), apply_inverse);
    EXPECT_LT(weakest.distance, e);
    EXPECT_GT(weakest.distance, e / 10);
}

} // namespace
} // namespace espalier
