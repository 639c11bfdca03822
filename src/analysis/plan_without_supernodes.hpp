// Plans a factorization without supernodes, if the options allow it and it is likely to be the faster one.
#pragma once

#include "analysis/analysis.hpp"

namespace espalier {

/// Sets the plan, the ordering and the working system of an analysis that has its options and its form.
/// Returns false, without a plan, if supernodes are to be used; the analysis may have scales and a matching
/// then. Errors as Solver::analyze.
template <class T> bool plan_without_supernodes(CscMatrix<T> const& matrix, AnalysisContext const& context,
                                                Analysis<T>& analysis);

} // namespace espalier
