#include "mapping/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace espalier {

namespace {

// Normal equations G x = h of the columns scaled to length 1.
struct NormalEquations {
    std::size_t n;
    std::vector<double> g, h, length;

    NormalEquations(std::span<double const> a, std::span<double const> b)
        : n(b.empty() ? 0 : a.size() / b.size()), g(n * n, 0.0), h(n, 0.0), length(n, 0.0) {
        for (std::size_t i = 0; i < b.size(); ++i)
            for (std::size_t j = 0; j < n; ++j) length[j] += a[i * n + j] * a[i * n + j];
        for (double& l : length) l = std::sqrt(l);
        for (std::size_t i = 0; i < b.size(); ++i)
            for (std::size_t j = 0; j < n; ++j) {
                if (length[j] == 0) continue;
                double const aij = a[i * n + j] / length[j];
                h[j] += aij * b[i];
                for (std::size_t k = 0; k < n; ++k)
                    if (length[k] > 0) g[j * n + k] += aij * (a[i * n + k] / length[k]);
            }
    }
};

template <class Term>
PerTerm<Term> fit(std::vector<KernelSample<Term>> const& samples, char const* what, FitQuality& quality) {
    if (samples.empty())
        throw Error(Status::internal, fmt::format("calibration: there are no samples of {}", what));
    constexpr std::size_t n = num_terms<Term>;
    std::vector<double> a, b;
    a.reserve(samples.size() * n);
    b.reserve(samples.size());
    for (auto const& sample : samples) {
        if (!(sample.seconds > 0) || !std::isfinite(sample.seconds))
            throw Error(Status::internal,
                        fmt::format("calibration: a sample of {} took {} s", what, sample.seconds));
        double const weight = 1 / std::cbrt(sample.seconds);
        for (double const count : sample.counts.value) a.push_back(count * weight);
        b.push_back(sample.seconds * weight);
    }
    std::vector<double> const x = nonnegative_least_squares(a, b);
    PerTerm<Term> seconds;
    std::copy(x.begin(), x.end(), seconds.value.begin());

    std::vector<double> errors;
    double predicted = 0, measured = 0;
    for (auto const& sample : samples) {
        double const expected = seconds_of(sample.counts, seconds);
        errors.push_back(std::abs(expected / sample.seconds - 1));
        predicted += expected;
        measured += sample.seconds;
    }
    auto const middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
    std::nth_element(errors.begin(), middle, errors.end());
    quality = {*middle, predicted / measured - 1};
    return seconds;
}

} // namespace

std::vector<double> nonnegative_least_squares(std::span<double const> a, std::span<double const> b) {
    NormalEquations const equations(a, b);
    std::size_t const n = equations.n;
    std::vector<double> x(n, 0.0);
    constexpr int most_sweeps = 100'000;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double largest = 0, change = 0;
        for (std::size_t j = 0; j < n; ++j) {
            if (equations.length[j] == 0) continue;
            double residual = equations.h[j]; // of equation j, whose diagonal entry is 1
            for (std::size_t k = 0; k < n; ++k) residual -= equations.g[j * n + k] * x[k];
            double const next = std::max(0.0, x[j] + residual);
            change = std::max(change, std::abs(next - x[j]));
            largest = std::max(largest, next);
            x[j] = next;
        }
        if (change <= 1e-14 * largest) break;
    }
    for (std::size_t j = 0; j < n; ++j)
        if (equations.length[j] > 0) x[j] /= equations.length[j];
    return x;
}

Calibration fit_cost_model(KernelSamples const& samples, Scalar scalar, KernelKind kind) {
    Calibration result;
    result.model = default_cost_model(scalar, kind);
    result.model.panel_seconds = fit(samples.panels, "panels", result.panel);
    result.model.update_seconds = fit(samples.updates, "updates", result.update);
    return result;
}

} // namespace espalier
