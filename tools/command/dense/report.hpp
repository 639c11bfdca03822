// The options and results of `espalier dense`, as text and as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/command/common/option_set.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/machine/parts.hpp"
#include "tools/dense/accuracy.hpp"
#include "tools/dense/tile_grid.hpp"
#include "tools/dense/tile_kernels.hpp"
#include "tools/dense/tile_tasks.hpp"
#include "trace/trace.hpp"

namespace espalier::command {

struct DenseOptions {
    DenseKind kind = DenseKind::cholesky;
    TileGrid grid{4000, 256};
    Options library;            ///< Only schedule, threads, allocation and topology are used.
    std::string simulate;       ///< The machine to simulate, or "here" for this one; empty: a real run.
    std::optional<double> rate; ///< GF/s of the kernels on a simulated core; nothing: measured.
    int repeat = 3;
    double tolerance = 1e-12;
    std::string trace; ///< Empty: none; "-": standard output.
    std::string json;  ///< Empty: none; "-": standard output.
    bool quiet = false;

    [[nodiscard]] bool is_simulated() const { return !simulate.empty(); }
    [[nodiscard]] bool prints() const { return !quiet && json != "-" && trace != "-"; }
};

struct DenseRun {
    TileRun stats;
    std::vector<std::int64_t> steals_by_distance;
    DenseAccuracy accuracy;
    std::optional<double> local_share; ///< Share of the tasks on the node of the tile that they write.
};

struct DenseRecord {
    DenseOptions asked;
    std::string machine;
    int nodes = 1;
    int threads = 1;
    bool bound = false;
    int cores = 1; ///< Cores of this machine that the threads use.
    DgemmRate dgemm;
    TileRates rates{};
    std::int64_t tasks = 0;
    /// Tiles that are not on the node of their owner; their tasks have other homes.
    std::int64_t followed_tiles = 0;
    /// The tiles that the system reports on each node; empty on another machine.
    std::vector<std::int64_t> tiles_of_node;
    double work_s = 0; ///< Time of all tasks, from the rates of the kernels.
    double critical_path_s = 0;
    std::optional<double> predicted_s; ///< Makespan of the static schedule.
    std::vector<DenseRun> runs;

    [[nodiscard]] std::vector<double> times_s() const; ///< Times of all runs.
    /// The run with the median time; the faster one of the two for an even number of runs.
    [[nodiscard]] DenseRun const& middle() const;
    /// The largest errors of all runs.
    [[nodiscard]] DenseAccuracy worst() const;
    [[nodiscard]] double gflops() const;
    /// Speed relative to dgemm on `cores` cores, each as fast as one core alone.
    [[nodiscard]] double efficiency() const;
    /// Idle share of the time of the threads.
    [[nodiscard]] double idle() const;
    [[nodiscard]] Status status() const;
};

/// Lines and values that the reports of real and simulated runs share.
std::string matrix_line(DenseOptions const& asked, std::int64_t tasks);
std::string schedule_text(Options const& settings);
nlohmann::ordered_json settings_json(Options const& settings);
/// GF/s of the kernels of `kind`.
nlohmann::ordered_json rates_json(DenseKind kind, TileRates const& rates);

/// Facts for the metadata of a trace.
std::map<std::string, std::string> trace_facts(DenseOptions const& asked, std::string const& machine,
                                               int threads);
void write_trace(OutputFile const& file, trace::Trace const& trace);

std::string dense_text(DenseRecord const& record);
std::string dense_json(DenseRecord const& record);

} // namespace espalier::command
