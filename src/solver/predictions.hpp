// Schedules that an analysis predicts, for this machine or another, and what is told of them: numbers and
// traces.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "espalier/report.hpp"
#include "espalier/simulation.hpp"
#include "runtime/topology.hpp"
#include "simulation/schedule.hpp"
#include "solver/analysis.hpp"
#include "trace/trace.hpp"

namespace espalier {

using TraceMetadata = std::map<std::string, std::string>;

/// The factorization by `processes` of `threads` each (0: the cores of the topology), under the options of
/// the analysis. If `trace_path` is not null, the schedule is written there as a trace with this metadata.
/// Errors as Solver::predict and Solver::write_predicted_trace.
template <class T> Prediction predict(Analysis<T> const& analysis, Topology const& topology, int processes,
                                      int threads, std::string const* trace_path,
                                      TraceMetadata const& metadata);

/// The factorization on any machine. Errors as Solver::simulate.
template <class T>
Prediction simulate(Analysis<T> const& analysis, Simulation const& what, TraceMetadata metadata);

} // namespace espalier
