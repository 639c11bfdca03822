// The effects of numerical options on a whole run: matching, scaling, mixed precision, condition.
#include <gtest/gtest.h>

#include <cmath>

#include "core/scalar.hpp"
#include "matrix/convert.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

// Scales rows and columns over twenty orders of magnitude.
CscMatrix<double> badly_scaled(CscMatrix<double> a) {
    auto const by = [](Index i) { return std::exp2(static_cast<double>((i * 7) % 67 - 33)); };
    scale_values(a, [&](Index i, Index j) { return by(i) * by(j); });
    return a;
}

// Permutes the rows so that the diagonal is mostly zero.
CscMatrix<double> shuffled_rows(CscMatrix<double> const& a) {
    Index const n = a.rows;
    auto full = expand_symmetric(a);
    std::vector<Index> place(n);
    for (Index i = 0; i < n; ++i) place[i] = (i * 17 + 5) % n;
    for (Index& row : full.row_ind) row = place[row];
    return transpose(transpose(full)); // sorts the columns
}

template <class T> Solution<T> solved(CscMatrix<T> const& a, Options options) {
    std::vector<T> const b(static_cast<std::size_t>(a.cols), T(1));
    options.threads = 2;
    options.bind_threads = false;
    return solve<T>(a, b, 1, options);
}

TEST(MatchingOption, IsUsedWhereTheDiagonalIsWeakUnlessItIsOff) {
    auto const a = shuffled_rows(generated<double>("convdiff3d:5"));
    Options options;
    EXPECT_TRUE(solved(a, options).report.analysis.matched);
    EXPECT_EQ(solved(a, options).report.analysis.structural_rank, a.cols);
    options.matching = Toggle::off;
    auto const without = solved(a, options);
    EXPECT_FALSE(without.report.analysis.matched);
    EXPECT_EQ(without.report.analysis.structural_rank, -1);
    EXPECT_GT(without.report.factor.pivots_delayed, 0); // the matching avoids this
    options.matching = Toggle::on;
    auto const strong = generated<double>("convdiff3d:5");
    EXPECT_TRUE(solved(strong, options).report.analysis.matched);
    options.matching = Toggle::automatic;
    EXPECT_FALSE(solved(strong, options).report.analysis.matched);
}

TEST(ScalingOption, DecidesForEveryFactorization) {
    auto const spd = badly_scaled(generated<double>("lap2d:12"));
    auto const unsymmetric = badly_scaled(generated<double>("convdiff3d:5"));
    for (Toggle const toggle : {Toggle::automatic, Toggle::on, Toggle::off}) {
        Options options;
        options.scaling = toggle;
        auto const cholesky = solved(spd, options);
        auto const lu = solved(unsymmetric, options);
        EXPECT_EQ(cholesky.report.factorization, Factorization::llh);
        EXPECT_EQ(cholesky.report.analysis.scaled, toggle == Toggle::on);
        EXPECT_EQ(lu.report.analysis.scaled, toggle != Toggle::off);
        EXPECT_EQ(cholesky.report.refine.status, Status::ok);
        if (toggle != Toggle::off) {
            EXPECT_EQ(lu.report.refine.status, Status::ok);
        }
    }
}

TEST(ScalingOption, OffWithAMatchingOnlyPermutes) {
    auto const a = shuffled_rows(generated<double>("convdiff3d:5"));
    Options options;
    options.scaling = Toggle::off;
    auto const result = solved(a, options);
    EXPECT_TRUE(result.report.analysis.matched);
    EXPECT_FALSE(result.report.analysis.scaled);
    EXPECT_EQ(result.report.refine.status, Status::ok);
}

TEST(MixedPrecision, ReachesFullAccuracyFromSingleFactors) {
    for (char const* spec : {"lap3d:8", "elast3d:5", "convdiff3d:7", "saddle3d:4"}) {
        auto const a = generated<double>(spec);
        Options options;
        options.mixed_precision = true;
        auto const result = solved(a, options);
        EXPECT_EQ(result.report.refine.status, Status::ok) << spec;
        EXPECT_LE(result.report.refine.backward_error, 1e-14) << spec;
        if (!result.report.factor.precision_fell_back) {
            EXPECT_EQ(result.report.factor.scalar, Scalar::s) << spec;
            EXPECT_GE(result.report.refine.iterations, 1) << spec;
        }
    }
    Options options;
    options.mixed_precision = true;
    EXPECT_FALSE(solved(generated<double>("lap3d:8"), options).report.factor.precision_fell_back);
    EXPECT_FALSE(solved(generated<double>("convdiff3d:7"), options).report.factor.precision_fell_back);
}

TEST(MixedPrecision, NeedsHalfTheMemory) {
    auto const a = generated<double>("lap3d:10");
    Options options;
    options.threads = 1;
    Solver<double> full(options);
    full.analyze(a);
    options.mixed_precision = true;
    Solver<double> mixed(options);
    mixed.analyze(a);
    EXPECT_LT(static_cast<double>(mixed.report().analysis.factor_bytes),
              0.51 * static_cast<double>(full.report().analysis.factor_bytes));
}

// A matrix of condition number about 1e11, which leaves no correct digit in single precision.
CscMatrix<double> too_hard_for_single() {
    auto a = generated<double>("lap2d:10");
    // A Neumann problem with a shift of 1e-9, without which it would be singular.
    std::vector<double> sums(a.cols, 0.0);
    scale_values(a, [&](Index i, Index j) {
        sums[i] += i == j ? 0 : 1;
        sums[j] += i == j ? 0 : 1;
        return 1;
    });
    scale_values(a, [&](Index i, Index j) { return i == j ? (sums[j] + 1e-9) / 4 : 1; });
    return a;
}

TEST(MixedPrecision, FallsBackWithANote) {
    Options options;
    options.mixed_precision = true;
    std::string said;
    options.log = [&](std::string_view line) { said += std::string(line) + "\n"; };
    auto const result = solved(too_hard_for_single(), options);
    EXPECT_TRUE(result.report.factor.precision_fell_back);
    EXPECT_EQ(result.report.factor.scalar, Scalar::d);
    EXPECT_EQ(result.report.refine.status, Status::ok);
    EXPECT_NE(said.find("double"), std::string::npos) << said;
}

TEST(MixedPrecision, SurvivesValuesOutsideTheRangeOfSingle) {
    auto a = generated<double>("lap2d:8");
    for (double& value : a.values) value *= 1e80;
    Options options;
    options.mixed_precision = true;
    auto const result = solved(a, options);
    EXPECT_EQ(result.report.refine.status, Status::ok);
    EXPECT_LE(result.report.refine.backward_error, 1e-14);
}

TEST(ConditionOption, EstimatesBothNumbers) {
    Options options;
    auto const plain = solved(generated<double>("lap2d:10"), options);
    EXPECT_EQ(plain.report.factor.rcond, -1);
    EXPECT_EQ(plain.report.refine.forward_error, -1);
    options.condition = true;
    auto const easy = solved(generated<double>("lap2d:10"), options);
    // The 5-point Laplacian on 10 x 10 points has |A|_1 = 8 and |A^-1|_1 of about 7.5.
    EXPECT_GT(easy.report.factor.rcond, 1 / 200.0);
    EXPECT_LT(easy.report.factor.rcond, 1 / 40.0);
    EXPECT_GT(easy.report.refine.forward_error, 0);
    EXPECT_LT(easy.report.refine.forward_error, 1e-11);
    auto const hard = solved(too_hard_for_single(), options);
    EXPECT_LT(hard.report.factor.rcond, 1e-8);
    EXPECT_GT(hard.report.refine.forward_error, easy.report.refine.forward_error);
}

TEST(ConditionOption, IsThatOfTheCallersMatrixIfItIsScaled) {
    auto const a = badly_scaled(generated<double>("convdiff3d:4"));
    Options options;
    options.condition = true;
    auto const result = solved(a, options);
    ASSERT_TRUE(result.report.analysis.scaled);
    EXPECT_LT(result.report.factor.rcond, 1e-15); // for the scaled matrix it would be about 1e-2
}

} // namespace
} // namespace espalier
