// Predicts schedules from an analysis, for this machine or another, and returns them as numbers or traces.
#pragma once

#include <map>
#include <string>

#include "analysis/analysis.hpp"
#include "espalier/report.hpp"
#include "espalier/simulation.hpp"
#include "runtime/topology.hpp"
#include "simulation/schedule.hpp"
#include "trace/trace.hpp"

namespace espalier {

using TraceMetadata = std::map<std::string, std::string>;

/// Predicts the factorization by `processes` with `threads` each (0: the cores of the topology) and the
/// options of the analysis. Writes the schedule as a trace with this metadata unless `trace_path` is null.
/// Errors as Solver::predict and Solver::write_predicted_trace. Of Prediction::analysis, total_s is not set,
/// and predicted_peak_bytes is the part that a factorization adds.
template <class T> Prediction predict(Analysis<T> const& analysis, Topology const& topology, int processes,
                                      int threads, std::string const* trace_path,
                                      TraceMetadata const& metadata);

/// Predicts the factorization on any machine. Errors as Solver::simulate.
template <class T>
Prediction simulate(Analysis<T> const& analysis, Simulation const& what, TraceMetadata metadata);

} // namespace espalier
