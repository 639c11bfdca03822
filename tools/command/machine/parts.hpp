// The parts of `espalier machine`, each in a file of its own.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "machine/cost_model_store.hpp"
#include "runtime/numa_factors.hpp"
#include "runtime/topology.hpp"

namespace espalier::command {

/// NUMA factors of daxpy and of dgemm on 128x128 blocks. Takes some two seconds. BLAS must be on one thread.
NumaFactors blas_numa_factors(Topology const& topology);
/// As tables, a line a core.
std::string numa_factors_text(NumaFactors const& factors);
nlohmann::ordered_json numa_factors_json(NumaFactors const& factors);

/// The tables as heat maps: an SVG file, or else a PNG.
std::string numa_factors_picture(NumaFactors const& factors, Topology const& topology, bool svg);

/// The cost model of this machine for all scalars and factorizations, measured anew and kept for later runs.
/// Takes some 15 seconds; `shows`: with progress and lines on what goes on.
struct CalibrationResult {
    MachineCosts costs;
    std::string file; ///< Where it is kept; empty where that was not possible.
    int cores = 1;    ///< What was measured on all of them at once.
};
CalibrationResult calibrate(bool shows);
/// The rates that follow from it as a table.
std::string calibration_text(CalibrationResult const& calibration);
/// What is in the file, and its name.
nlohmann::ordered_json calibration_json(CalibrationResult const& calibration);

} // namespace espalier::command
