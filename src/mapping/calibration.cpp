#include "mapping/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace espalier {

namespace {

// A call that takes more than this multiple of the expected time was interrupted.
constexpr double disturbed = 4;

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

template <class Term> using Samples = std::vector<KernelSample<Term>>;

// The flops where columns collide in the cache take at least as long as the others.
struct Flops {
    std::size_t usual, strided;
};
constexpr Flops flops_of(PerTerm<PanelTerm> const&) {
    return {static_cast<std::size_t>(PanelTerm::solve_flop),
            static_cast<std::size_t>(PanelTerm::solve_strided)};
}
constexpr Flops flops_of(PerTerm<UpdateTerm> const&) {
    return {static_cast<std::size_t>(UpdateTerm::flop), static_cast<std::size_t>(UpdateTerm::strided)};
}

// The seconds of each term, by least squares of errors weighted by seconds^-power. Strided flops are fitted
// as flops with an additional price, because there may be few of them.
template <class Term> PerTerm<Term> weighted_fit(Samples<Term> const& samples, double power) {
    constexpr Flops flops = flops_of(PerTerm<Term>{});
    std::vector<double> a, b;
    a.reserve(samples.size() * num_terms<Term>);
    b.reserve(samples.size());
    for (auto const& sample : samples) {
        double const weight = std::pow(sample.seconds, -power);
        auto counts = sample.counts.value;
        counts[flops.usual] += counts[flops.strided];
        for (double const count : counts) a.push_back(count * weight);
        b.push_back(sample.seconds * weight);
    }
    std::vector<double> const x = nonnegative_least_squares(a, b);
    PerTerm<Term> seconds;
    std::copy(x.begin(), x.end(), seconds.value.begin());
    seconds.value[flops.strided] += seconds.value[flops.usual];
    return seconds;
}

template <class Term> FitQuality quality_of(Samples<Term> const& samples, PerTerm<Term> const& seconds) {
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
    return {*middle, predicted / measured - 1};
}

template <class Term> PerTerm<Term> fit(Samples<Term> samples, char const* what, FitQuality& quality) {
    for (auto const& sample : samples)
        if (!(sample.seconds > 0) || !std::isfinite(sample.seconds))
            throw Error(Status::internal,
                        fmt::format("calibration: a sample of {} took {} s", what, sample.seconds));
    if (samples.empty())
        throw Error(Status::internal, fmt::format("calibration: there are no samples of {}", what));
    // In relative errors, no call that took too long counts more than others.
    PerTerm<Term> const typical = weighted_fit(samples, 1);
    std::erase_if(samples, [&](auto const& sample) {
        return sample.seconds > disturbed * seconds_of(sample.counts, typical);
    });
    PerTerm<Term> seconds = weighted_fit(samples, 1.0 / 3);
    quality = quality_of(samples, seconds);
    for (double& value : seconds.value) value /= 1 + quality.total_error; // the weights favor small calls
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
            double residual = equations.h[j]; // residual of equation j, whose diagonal entry is 1
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
