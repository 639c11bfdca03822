// A cost model from measured kernel times. In: samples, each with the terms of one or several calls and their
// seconds (factor/kernel_timing.hpp measures them). Out: the seconds of each term by non-negative least
// squares, and the quality of the fit.
#pragma once

#include <span>
#include <vector>

#include "mapping/cost_model.hpp"

namespace espalier {

/// The sum of the terms of some calls, and the time they took.
template <class Term> struct KernelSample {
    PerTerm<Term> counts;
    double seconds = 0;
};

struct KernelSamples {
    std::vector<KernelSample<PanelTerm>> panels;
    std::vector<KernelSample<UpdateTerm>> updates;
};

/// The errors of a fit on its samples, before it is scaled to their sum.
struct FitQuality {
    double median_error = 0; ///< |predicted / measured - 1|, median over the samples.
    double total_error = 0;  ///< predicted / measured - 1 of the sums over the samples.
};

struct Calibration {
    CostModel model;
    FitQuality panel, update;
};

/// x >= 0 that minimizes |A x - b|; `a` has the b.size() rows of A one after another. Columns may be linearly
/// dependent; the entry of a zero column is 0. (Coordinate descent: Franc, Hlavac, Navara 2005.)
std::vector<double> nonnegative_least_squares(std::span<double const> a, std::span<double const> b);

/// The model that fits these samples. Errors are weighted by seconds^(-1/3): most calls are small, but large
/// ones take most of the time. Then all seconds are scaled such that the sum over the samples is that of
/// their times. Samples that take four times what the others suggest are left out. Error{internal} for no
/// panels, no updates, or a time of 0.
Calibration fit_cost_model(KernelSamples const& samples, Scalar scalar, KernelKind kind);

} // namespace espalier
