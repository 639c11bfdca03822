#include "mapping/calibration.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(NonnegativeLeastSquares, SolvesWhatHasAnExactSolution) {
    std::vector<double> const a = {1, 2, 3, 4, 5, 7}, b = {5, 11, 19}; // x = (1, 2)
    auto const x = nonnegative_least_squares(a, b);
    ASSERT_EQ(x.size(), 2U);
    EXPECT_NEAR(x[0], 1, 1e-6);
    EXPECT_NEAR(x[1], 2, 1e-6);
}

TEST(NonnegativeLeastSquares, StopsAtZeroWhereTheMinimumIsBeyond) {
    // The unconstrained solution is (2, -1); with x2 = 0 the best x1 is a.b / a.a of the first column.
    std::vector<double> const a = {1, 0, 1, 1, 1, 2}, b = {2, 1, 0};
    auto const x = nonnegative_least_squares(a, b);
    EXPECT_NEAR(x[0], 1, 1e-6);
    EXPECT_EQ(x[1], 0);
}

TEST(NonnegativeLeastSquares, AcceptsColumnsThatAreZeroOrEqual) {
    std::vector<double> const a = {1, 0, 1, 2, 0, 2, 3, 0, 3}, b = {2, 4, 6};
    auto const x = nonnegative_least_squares(a, b);
    EXPECT_EQ(x[1], 0);
    EXPECT_NEAR(x[0] + x[2], 2, 1e-6);
}

TEST(NonnegativeLeastSquares, MeetsTheOptimalityConditionsOnRandomSystems) {
    std::mt19937 engine(4);
    std::normal_distribution<double> normal;
    for (int turn = 0; turn < 30; ++turn) {
        std::size_t const n = 2 + static_cast<std::size_t>(turn) % 6, m = 3 * n;
        std::vector<double> a(m * n), b(m);
        for (double& v : a) v = normal(engine);
        for (double& v : b) v = normal(engine);
        auto const x = nonnegative_least_squares(a, b);
        for (std::size_t j = 0; j < n; ++j) {
            double gradient = 0; // of |A x - b|^2 / 2
            for (std::size_t i = 0; i < m; ++i) {
                double residual = -b[i];
                for (std::size_t k = 0; k < n; ++k) residual += a[i * n + k] * x[k];
                gradient += a[i * n + j] * residual;
            }
            EXPECT_GE(x[j], 0);
            if (x[j] > 0)
                EXPECT_NEAR(gradient, 0, 1e-6);
            else
                EXPECT_GE(gradient, -1e-6);
        }
    }
}

// Samples of many sizes whose times a given model makes, disturbed by `noise`.
KernelSamples samples_of(CostModel const& truth, double noise) {
    std::mt19937 engine(9);
    std::uniform_real_distribution<double> unit(0, 1);
    KernelSamples samples;
    auto const between = [&](double low, double high) {
        return static_cast<Index>(low * std::pow(high / low, unit(engine)));
    };
    auto const disturbed = [&](double seconds) { return seconds * (1 + noise * (unit(engine) - 0.5)); };
    for (int s = 0; s < 400; ++s) {
        Index const width = between(2, 256), rows = between(4, 2000);
        auto const panel = panel_counts(truth.kernels, width, rows);
        samples.panels.push_back({panel, disturbed(seconds_of(panel, truth.panel_seconds))});
        UpdateShape const shape{
            rows, std::min(rows, between(1, 256)), width, width + rows, 1 + s % 2, between(1, 20)};
        auto const update = update_counts(truth.kernels, shape);
        samples.updates.push_back({update, disturbed(seconds_of(update, truth.update_seconds))});
    }
    return samples;
}

TEST(Calibration, FindsTheModelThatMadeTheSamples) {
    for (KernelKind const kind : {KernelKind::cholesky, KernelKind::ldl, KernelKind::lu}) {
        CostModel truth = default_cost_model(Scalar::z, kind);
        for (UpdateTerm const t : {UpdateTerm::flop, UpdateTerm::strided}) truth.update_seconds[t] *= 3;
        auto const found = fit_cost_model(samples_of(truth, 0), Scalar::z, kind);
        EXPECT_LT(found.panel.median_error, 1e-3);
        EXPECT_LT(found.update.median_error, 1e-3);
        EXPECT_EQ(found.model.kernels.kind, kind);
        EXPECT_EQ(found.model.kernels.scalar_bytes, 16U);
        EXPECT_NEAR(found.model.update_seconds[UpdateTerm::flop] / truth.update_seconds[UpdateTerm::flop], 1,
                    1e-3);
    }
}

TEST(Calibration, PredictsLargeCallsFromNoisySamples) {
    CostModel const truth = default_cost_model(Scalar::d, KernelKind::cholesky);
    auto const found = fit_cost_model(samples_of(truth, 0.2), Scalar::d, KernelKind::cholesky);
    EXPECT_LT(std::abs(found.update.total_error), 0.05);
    EXPECT_LT(found.update.median_error, 0.1);
    UpdateShape const large{1500, 250, 250, 1777, 1, 6};
    EXPECT_NEAR(found.model.update(large) / truth.update(large), 1, 0.08);
}

TEST(Calibration, KeepsTheSumOfTheTimes) {
    KernelSamples const samples = samples_of(CostModel{}, 0.5);
    auto const found = fit_cost_model(samples, Scalar::d, KernelKind::cholesky);
    double predicted = 0, measured = 0;
    for (auto const& sample : samples.updates) {
        predicted += seconds_of(sample.counts, found.model.update_seconds);
        measured += sample.seconds;
    }
    EXPECT_NEAR(predicted / measured, 1, 1e-9);
}

TEST(Calibration, ExpectsNoLessTimeForStridedFlopsThatWereNotMeasured) {
    CostModel const truth = default_cost_model(Scalar::d, KernelKind::cholesky);
    KernelSamples samples = samples_of(truth, 0);
    std::erase_if(samples.updates, [](auto const& sample) { return sample.counts[UpdateTerm::strided] > 0; });
    std::erase_if(samples.panels,
                  [](auto const& sample) { return sample.counts[PanelTerm::solve_strided] > 0; });
    auto const found = fit_cost_model(samples, Scalar::d, KernelKind::cholesky).model;
    EXPECT_EQ(found.update_seconds[UpdateTerm::strided], found.update_seconds[UpdateTerm::flop]);
    EXPECT_EQ(found.panel_seconds[PanelTerm::solve_strided], found.panel_seconds[PanelTerm::solve_flop]);
}

TEST(Calibration, IgnoresInterruptedCalls) {
    CostModel const truth = default_cost_model(Scalar::d, KernelKind::cholesky);
    KernelSamples samples = samples_of(truth, 0);
    for (std::size_t s = 0; s < samples.updates.size(); s += 50) samples.updates[s].seconds *= 10;
    auto const found = fit_cost_model(samples, Scalar::d, KernelKind::cholesky);
    UpdateShape const large{1500, 250, 250, 1777, 1, 6};
    EXPECT_NEAR(found.model.update(large) / truth.update(large), 1, 1e-3);
}

TEST(Calibration, RefusesInvalidSamples) {
    auto samples = samples_of(CostModel{}, 0);
    samples.updates[3].seconds = 0;
    EXPECT_THROW(fit_cost_model(samples, Scalar::d, KernelKind::cholesky), Error);
    samples.updates.clear();
    EXPECT_THROW(fit_cost_model(samples, Scalar::d, KernelKind::cholesky), Error);
}

} // namespace
} // namespace espalier
