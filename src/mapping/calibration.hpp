// From measured kernel times to a cost model. In: samples, each the terms of one or several calls and their
// seconds (factor/kernel_timing.hpp measures them). Out: the seconds of each term by non-negative least
// squares, and how well they explain the samples.
#pragma once

#include <span>
#include <vector>

#include "mapping/cost_model.hpp"

namespace espalier {

/// What was called, added up, and how long it took.
template <class Term> struct KernelSample {
    PerTerm<Term> counts;
    double seconds = 0;
};

struct KernelSamples {
    std::vector<KernelSample<PanelTerm>> panels;
    std::vector<KernelSample<UpdateTerm>> updates;
};

/// How a model stands to the samples it was fitted to.
struct FitQuality {
    double median_error = 0; ///< |predicted / measured - 1|, median over the samples.
    double total_error = 0;  ///< The same of the sums of all samples, with its sign.
};

struct Calibration {
    CostModel model;
    FitQuality panel, update;
};

/// x >= 0 that minimises |A x - b|; `a` holds the rows of A, one after another, b.size() of them. Columns
/// may depend on each other; one that is zero gets 0. (Coordinate descent: Franc, Hlavac, Navara 2005.)
std::vector<double> nonnegative_least_squares(std::span<double const> a, std::span<double const> b);

/// The model of these samples. Errors are relative ones, weighted by seconds^(1/4): most calls are small,
/// most of the time goes into large ones. Error{internal} when there are no panels or no updates, or a time
/// is not positive.
Calibration fit_cost_model(KernelSamples const& samples, Scalar scalar, KernelKind kind);

} // namespace espalier
