// What `espalier dense` found out, and how it is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "runtime/graph_run.hpp"
#include "tools/command/common/dgemm_rate.hpp"
#include "tools/dense/accuracy.hpp"
#include "tools/dense/tile_tasks.hpp"

namespace espalier::command {

struct DenseRun {
    RunStats stats;
    std::vector<std::int64_t> steals_by_distance;
    DenseAccuracy accuracy;
};

struct DenseRecord {
    DenseOptions asked;
    std::string machine;
    int nodes = 1;
    int threads = 1;
    bool bound = false;
    int cores = 1; ///< Of this machine, as many as there are threads for.
    DgemmRate dgemm;
    TileRates rates{};
    std::int64_t tasks = 0;
    double work_s = 0; ///< As the rates of the kernels let expect.
    double critical_path_s = 0;
    std::optional<double> predicted_s; ///< Of the lists of the static schedule.
    std::vector<DenseRun> runs;

    /// Of the times of all runs.
    [[nodiscard]] double median_s() const;
    /// The run in the middle by its time, of an even number the faster one of the two: what its workers did
    /// is told.
    [[nodiscard]] DenseRun const& middle() const;
    [[nodiscard]] double best_s() const;
    /// The largest errors of all runs.
    [[nodiscard]] DenseAccuracy worst() const;
    [[nodiscard]] double gflops() const;
    /// Of the speed at which so many cores would multiply, each as fast as one alone.
    [[nodiscard]] double efficiency() const;
    /// Share of the threads' time.
    [[nodiscard]] double idle() const;
    [[nodiscard]] Status status() const;
};

std::string dense_text(DenseRecord const& record);
std::string dense_json(DenseRecord const& record);

} // namespace espalier::command
