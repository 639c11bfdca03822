#include "report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "io/atomic_file.hpp"
#include "tools/command/common/numbers.hpp"
#include "trace/paje.hpp"

namespace espalier::command {

using Json = nlohmann::ordered_json;

std::string matrix_line(DenseOptions const& asked, std::int64_t tasks) {
    TileGrid const& grid = asked.grid;
    return fmt::format("{:<12}order {}, {} x {} tiles of {}, {}, {}\n", to_string(asked.kind), grid.n,
                       grid.count(), grid.count(), std::min(grid.tile, grid.n), counted(tasks, "task"),
                       readable_flops(flops(asked.kind, grid.n)));
}

std::string schedule_text(Options const& settings) {
    std::string text = to_string(settings.schedule);
    if (settings.schedule == SchedulePolicy::places)
        text += fmt::format(", {}, {}, {}", to_string(settings.push_init), to_string(settings.push),
                            to_string(settings.select));
    return text + (settings.strict ? ", strict" : "");
}

Json settings_json(Options const& settings) {
    Json json = {{"schedule", to_string(settings.schedule)}};
    if (settings.schedule == SchedulePolicy::places) {
        json["push_init"] = to_string(settings.push_init);
        json["push"] = to_string(settings.push);
        json["select"] = to_string(settings.select);
        json["seed"] = settings.seed;
    }
    json["strict"] = settings.strict;
    return json;
}

Json rates_json(DenseKind kind, TileRates const& rates) {
    Json json = Json::object();
    for (std::size_t k = 0; k < num_tile_kernels; ++k)
        if ((kind == DenseKind::cholesky) == (k < static_cast<std::size_t>(TileKernel::geqrt)))
            json[to_string(static_cast<TileKernel>(k))] = rates[k] / 1e9;
    return json;
}

std::map<std::string, std::string> trace_facts(DenseOptions const& asked, std::string const& machine,
                                               int threads) {
    return {{"program", "espalier " ESPALIER_VERSION},
            {"machine", machine},
            {"matrix",
             fmt::format("dense {} {}, tiles of {}", to_string(asked.kind), asked.grid.n, asked.grid.tile)},
            {"schedule", to_string(asked.library.schedule)},
            {"alloc", to_string(asked.library.allocation)},
            {"threads", std::to_string(threads)},
            {"processes", "1"}};
}

void write_trace(OutputFile const& file, trace::Trace const& trace) {
    file.write([&trace](std::string const& path) {
        AtomicFile output(path);
        trace::write_paje(trace, [&output](std::string_view text) { output.write(text); });
        output.commit();
    });
}

std::vector<double> DenseRecord::times_s() const {
    std::vector<double> times;
    for (DenseRun const& run : runs) times.push_back(run.stats.seconds);
    return times;
}

DenseRun const& DenseRecord::middle() const {
    std::vector<DenseRun const*> by_time;
    for (DenseRun const& run : runs) by_time.push_back(&run);
    auto const middle = by_time.begin() + static_cast<std::ptrdiff_t>((by_time.size() - 1) / 2);
    std::ranges::nth_element(by_time, middle, {}, [](DenseRun const* run) { return run->stats.seconds; });
    return **middle;
}

DenseAccuracy DenseRecord::worst() const {
    DenseAccuracy worst = runs.front().accuracy;
    auto const take_worse = [](double& largest, double value) {
        if (!(value <= largest)) largest = value; // also if value is NaN
    };
    for (DenseRun const& run : runs) {
        take_worse(worst.backward_error, run.accuracy.backward_error);
        if (worst.orthogonality) take_worse(*worst.orthogonality, *run.accuracy.orthogonality);
    }
    return worst;
}

double DenseRecord::gflops() const {
    return flops(asked.kind, asked.grid.n) / median(times_s()) / 1e9;
}

double DenseRecord::efficiency() const {
    return gflops() / (dgemm.gflops() * cores);
}

double DenseRecord::idle() const {
    RunStats const& stats = middle().stats;
    return std::max(0.0, 1 - stats.busy_s() / (stats.seconds * threads));
}

Status DenseRecord::status() const {
    return worst().within(asked.tolerance) ? Status::ok : Status::inaccurate;
}

std::string dense_text(DenseRecord const& record) {
    DenseOptions const& asked = record.asked;
    DenseRun const& run = record.middle();
    std::string text = matrix_line(asked, record.tasks);
    text +=
        fmt::format("machine     {} on {}, {}, alloc {}\n", counted(record.threads, "thread"), record.machine,
                    counted(record.nodes, "NUMA node"), to_string(asked.library.allocation));
    text += fmt::format("schedule    {}\n", schedule_text(asked.library));
    if (record.followed_tiles > 0)
        text += fmt::format("pages       {} not on the node of their owner; their tasks are scheduled on the "
                            "node of the pages\n",
                            counted(record.followed_tiles, "tile"));
    if (record.tiles_of_node.size() > 1 && run.local_share)
        text += fmt::format(
            "nodes       {} tiles; {:.1f} % of the tasks on the node of the tile that they write\n",
            fmt::join(record.tiles_of_node, " + "), 100 * *run.local_share);
    if (record.predicted_s) text += fmt::format("predicted   {}\n", readable_seconds(*record.predicted_s));
    text += fmt::format("time        {}", readable_seconds(median(record.times_s())));
    if (record.runs.size() > 1)
        text += fmt::format(", median of {}; best {}", record.runs.size(),
                            readable_seconds(std::ranges::min(record.times_s())));
    text += fmt::format("; critical path {}\n", readable_seconds(record.critical_path_s));
    text += fmt::format("speed       {:.1f} GF/s, {:.0f} % of dgemm on {} ({:.1f} GF/s on one)\n",
                        record.gflops(), 100 * record.efficiency(), counted(record.cores, "core"),
                        record.dgemm.gflops());
    text += fmt::format("idle        {:.1f} %\n", 100 * record.idle());
    text += fmt::format("steals      {}\n", steals_text(run.steals_by_distance));
    DenseAccuracy const worst = record.worst();
    if (worst.orthogonality)
        text += fmt::format("error       |A - Q R| / |A| = {:.1e}, |I - Q^T Q| / sqrt(n) = {:.1e}\n",
                            worst.backward_error, *worst.orthogonality);
    else
        text += fmt::format("error       |A - L L^T| / |A| = {:.1e}\n", worst.backward_error);
    return text;
}

std::string dense_json(DenseRecord const& record) {
    DenseOptions const& asked = record.asked;
    DenseRun const& run = record.middle();
    Json workers = Json::array();
    for (WorkerStats const& worker : run.stats.workers)
        workers.push_back({{"tasks", worker.tasks}, {"busy_s", worker.busy_s}, {"steals", worker.steals}});
    DenseAccuracy const worst = record.worst();
    // A number that is not finite is written as null.
    Json const json = {{"espalier", ESPALIER_VERSION},
                       {"kernel", to_string(asked.kind)},
                       {"n", asked.grid.n},
                       {"tile", asked.grid.tile},
                       {"machine", record.machine},
                       {"simulated", false},
                       {"numa_nodes", record.nodes},
                       {"threads", record.threads},
                       {"bound", record.bound},
                       {"alloc", to_string(asked.library.allocation)},
                       {"settings", settings_json(asked.library)},
                       {"tasks", record.tasks},
                       {"followed_tiles", record.followed_tiles},
                       {"tiles_of_node", record.tiles_of_node},
                       {"local_share", run.local_share ? Json(*run.local_share) : Json(nullptr)},
                       {"flops", flops(asked.kind, asked.grid.n)},
                       {"times_s", record.times_s()},
                       {"time_s", median(record.times_s())},
                       {"gflops", record.gflops()},
                       {"dgemm_gflops", record.dgemm.gflops()},
                       {"efficiency", record.efficiency()},
                       {"kernel_gflops", rates_json(asked.kind, record.rates)},
                       {"work_s", record.work_s},
                       {"critical_path_s", record.critical_path_s},
                       {"predicted_s", record.predicted_s ? Json(*record.predicted_s) : Json(nullptr)},
                       {"idle", record.idle()},
                       {"workers", workers},
                       {"steals", run.stats.steals()},
                       {"steals_by_distance", run.steals_by_distance},
                       {"backward_error", worst.backward_error},
                       {"orthogonality", worst.orthogonality ? Json(*worst.orthogonality) : Json(nullptr)},
                       {"tolerance", asked.tolerance},
                       {"status", to_string(record.status())}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace espalier::command
