// The parts of `espalier machine`, each in a file of its own.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "machine/cost_model_store.hpp"
#include "runtime/numa_factors.hpp"
#include "runtime/topology.hpp"

namespace espalier {
struct SimulatedMachine;
}

namespace espalier::command {

/// The order of the blocks that NUMA factors are measured with.
inline constexpr Index factor_block_order = 128;

/// The speed of a matrix product on one core, as a reference for other speeds.
struct DgemmRate {
    Index order = 0;
    double best_s = std::numeric_limits<double>::infinity();
    [[nodiscard]] double gflops() const {
        auto const n = static_cast<double>(order);
        return 2 * n * n * n / best_s / 1e9;
    }
};

/// Measures C = A B on one core for `seconds`, but at least three products; the best one counts. Sets BLAS to
/// one thread.
DgemmRate measure_dgemm(Index order, double seconds = 0.5);

/// The rate of a kernel, and its operations for each byte that it reads or writes.
struct KernelRate {
    char const* name;
    double gflops;
    double flops_per_byte;
};
struct RooflineOfScalar {
    Scalar scalar;
    double best_gflops; ///< The best rate of all products.
    std::vector<std::pair<Index, std::vector<KernelRate>>> widths;
};
struct Roofline {
    double bytes_per_s; ///< Bandwidth of one core.
    std::vector<RooflineOfScalar> scalars;
};
/// Measures the kernels of a factorization on one core for several widths of panels, in d and z: the update
/// by the kernels of the library, by gemm of BLAS, the solve for the rows below, and the diagonal block of
/// Cholesky. Takes some seconds.
Roofline measure_roofline();
/// A table for each scalar.
std::string roofline_text(Roofline const& roofline);
nlohmann::ordered_json roofline_json(Roofline const& roofline);

/// NUMA factors of daxpy and of dgemm on 128x128 blocks. Takes about two seconds. BLAS must use one thread.
NumaFactors blas_numa_factors(Topology const& topology);
/// The factors that simulations on the machine assume, for one core of each node. `region_bytes` is 0.
NumaFactors predicted_numa_factors(SimulatedMachine const& machine);
/// A factor with three digits.
std::string factor_text(double factor);
/// Tables with one line for each core.
std::string numa_factors_text(NumaFactors const& factors);
nlohmann::ordered_json numa_factors_json(NumaFactors const& factors);

/// Heat maps as an SVG or a PNG file.
std::string numa_factors_picture(NumaFactors const& factors, Topology const& topology, bool svg);

/// Measures the cost model of this machine for all scalars and factorizations, and keeps it for later runs.
/// Takes about 15 seconds; `shows`: with progress.
struct CalibrationResult {
    MachineCosts costs;
    std::string file; ///< File of the cost model; empty if it could not be written.
    int cores = 1;    ///< Number of cores that worked at once in the measurement of contention.
};
CalibrationResult calibrate(bool shows);
/// The rates of the cost model as a table.
std::string calibration_text(CalibrationResult const& calibration);
/// The content of the file, and its name.
nlohmann::ordered_json calibration_json(CalibrationResult const& calibration);

} // namespace espalier::command
