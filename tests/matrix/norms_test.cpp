#include "matrix/norms.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

using namespace espalier;

TEST(Norms, OfComplexVectorsAreMaximumModuli) {
    std::vector<std::complex<double>> const x{{1, 0}, {3, -4}, {-2, 0}};
    EXPECT_EQ(infinity_norm(std::span(x).first(0)), 0);
    EXPECT_DOUBLE_EQ(infinity_norm<std::complex<double>>(x), 5);
    CscMatrix<std::complex<double>> const a{2, 2, Symmetry::general, {0, 1, 2}, {0, 1}, {{0, 2}, {3, 4}}};
    EXPECT_DOUBLE_EQ(max_abs(a), 5);
}

TEST(Norms, KeepANanAtAnyPlace) {
    for (int place = 0; place < 3; ++place) {
        std::vector<double> x{1, 2, std::numeric_limits<double>::infinity()};
        x[place] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_TRUE(std::isnan(infinity_norm<double>(x)));
        EXPECT_FALSE(all_finite<double>(x));
    }
}

TEST(Norms, TheLeastDiagonalEntryIsZeroIfOneIsMissing) {
    CscMatrix<double> a{2, 2, Symmetry::symmetric, {0, 2, 3}, {0, 1, 1}, {3, 7, 2}};
    EXPECT_EQ(least_diagonal(a), 2);
    a.values[2] = -1;
    EXPECT_EQ(least_diagonal(a), -1);
    a = {2, 2, Symmetry::symmetric, {0, 2, 2}, {0, 1}, {3, 7}};
    EXPECT_EQ(least_diagonal(a), 0);
}

TEST(Norms, OfSinglePrecisionDoNotOverflow) {
    std::vector<std::complex<float>> const x{{3e38f, 3e38f}};
    EXPECT_NEAR(infinity_norm<std::complex<float>>(x), 3e38 * std::sqrt(2.0), 1e33);
}

TEST(Norms, ModuliOfComplexNumbersAreAccurateForAllExponents) {
    for (int exponent = -1060; exponent <= 1020; exponent += 4) {
        double const unit = std::ldexp(1.0, exponent);
        for (std::complex<double> const z : {std::complex<double>(3, -4), {-5, 0}, {0, 5}})
            EXPECT_DOUBLE_EQ(modulus(z * unit), 5 * unit);
        EXPECT_DOUBLE_EQ(modulus(std::complex<double>(1, unit)), std::hypot(1, unit));
    }
    double const nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(modulus(std::complex<double>(nan, 1))));
    EXPECT_TRUE(std::isinf(modulus(std::complex<double>(1, std::numeric_limits<double>::infinity()))));
    EXPECT_EQ(modulus(std::complex<double>()), 0);
    EXPECT_DOUBLE_EQ(modulus(std::complex<float>(3e38f, 3e38f)), std::sqrt(2.0) * double{3e38f});
}
