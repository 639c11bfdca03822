#include "simulated.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/machine_file.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/dense/tile_kernels.hpp"
#include "tools/dense/tile_simulation.hpp"
#include "tools/dense/tile_trace.hpp"

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

struct DenseSimulation {
    DenseOptions asked;
    std::string machine;
    int nodes = 1;
    int threads = 1;
    int cores = 1;
    TileRates rates{};
    double bandwidth = 0; ///< Bytes per second that a core can stream.
    std::int64_t tasks = 0;
    double work_s = 0;
    double critical_path_s = 0;
    SimulatedTiles result;

    [[nodiscard]] double seconds() const { return result.run.makespan; }
    [[nodiscard]] double gflops() const { return flops(asked.kind, asked.grid.n) / seconds() / 1e9; }
    [[nodiscard]] double memory_s() const { return std::max(0.0, result.busy_s() - work_s); }
};

// How much faster a core of `machine` is than one of this machine: by its cost model of a product of tiles if
// it has one, otherwise by its "speed" and "contention".
double relative_speed(SimulatedMachine const& machine, CostModel const& costs, Index tile) {
    if (machine.models.empty()) return machine.speed / costs.contention;
    UpdateShape shape;
    shape.rows = shape.cols = shape.depth = shape.stride = tile;
    shape.with_group = false;
    auto const order = static_cast<double>(tile);
    return 2 * order * order * order / costs.update(shape) / (measure_dgemm(1000, 0.2).gflops() * 1e9);
}

TileRates rates_of(DenseOptions const& asked, SimulatedMachine const& machine, CostModel const& costs) {
    TileRates rates;
    rates.fill(asked.rate.value_or(0) * 1e9);
    if (asked.rate) return rates;
    Index const tile = std::min(asked.grid.tile, asked.grid.n);
    rates = measure_rates(asked.kind, tile);
    double const speed = relative_speed(machine, costs, std::min<Index>(tile, 256));
    for (double& rate : rates) rate *= speed;
    return rates;
}

std::string text_of(DenseSimulation const& record) {
    DenseOptions const& asked = record.asked;
    auto const all = static_cast<double>(record.threads);
    std::string text = matrix_line(asked, record.tasks);
    text +=
        fmt::format("machine     {} on {}{} (simulated), {}, alloc {}\n", counted(record.threads, "thread"),
                    record.cores < record.threads ? counted(record.cores, "core") + " of " : "",
                    record.machine, counted(record.nodes, "NUMA node"), to_string(asked.library.allocation));
    text += fmt::format("kernels     {}\n", asked.rate ? fmt::format("{} GF/s each, as given", *asked.rate)
                                                       : std::string("measured on one core of this machine"));
    text += fmt::format("schedule    {}\n", schedule_text(asked.library));
    text += fmt::format("predicted   {}; critical path {}, work {} per thread\n",
                        readable_seconds(record.seconds()), readable_seconds(record.critical_path_s),
                        readable_seconds(record.work_s / all));
    text += fmt::format("speed       {:.1f} GF/s\n", record.gflops());
    text += fmt::format(
        "memory      {:.1f} % of the bytes on the worker's NUMA node; tasks take {:.1f} % longer\n",
        100 * record.result.local_share, 100 * record.memory_s() / record.work_s);
    text += fmt::format("idle        {:.1f} %\n", 100 * record.result.idle());
    text += fmt::format("steals      {}\n", steals_text(record.result.steals_by_distance));
    return text;
}

std::string json_of(DenseSimulation const& record) {
    DenseOptions const& asked = record.asked;
    SimulatedTiles const& result = record.result;
    Json workers = Json::array();
    std::int64_t steals = 0;
    for (std::size_t w = 0; w < result.steals.size(); ++w) {
        workers.push_back({{"tasks", result.run.lists[w].size()},
                           {"busy_s", result.run.busy[w]},
                           {"steals", result.steals[w]}});
        steals += result.steals[w];
    }
    Json const json = {{"espalier", ESPALIER_VERSION},
                       {"kernel", to_string(asked.kind)},
                       {"n", asked.grid.n},
                       {"tile", asked.grid.tile},
                       {"machine", record.machine},
                       {"simulated", true},
                       {"numa_nodes", record.nodes},
                       {"threads", record.threads},
                       {"cores", record.cores},
                       {"alloc", to_string(asked.library.allocation)},
                       {"settings", settings_json(asked.library)},
                       {"tasks", record.tasks},
                       {"flops", flops(asked.kind, asked.grid.n)},
                       {"gflops", record.gflops()},
                       {"kernel_gflops", rates_json(asked.kind, record.rates)},
                       {"kernel_source", asked.rate ? "given" : "measured"},
                       {"core_bytes_per_s", record.bandwidth},
                       {"work_s", record.work_s},
                       {"critical_path_s", record.critical_path_s},
                       {"predicted_s", record.seconds()},
                       {"memory_s", record.memory_s()},
                       {"local_share", result.local_share},
                       {"idle", result.idle()},
                       {"workers", workers},
                       {"steals", steals},
                       {"steals_by_distance", result.steals_by_distance},
                       {"status", to_string(Status::ok)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

void simulate_dense(DenseOptions const& options) {
    OutputFile const json_file(options.json), trace_file(options.trace);
    ScheduleSettings const& settings = options.library;
    SimulatedMachine const machine = find_machine(options.simulate);
    MachineModel const model = machine.model(1, options.library.threads);
    // Completes missing values of the machine file from the default cost model.
    CostModel const costs = machine.costs(default_cost_model(Scalar::d, KernelKind::cholesky), Scalar::d);
    PolicyMachine const places(model.node_of_thread, model.node_distances);
    DenseSimulation record;
    record.asked = options;
    record.machine = machine.name;
    record.nodes = places.num_nodes();
    record.threads = model.threads;
    record.cores = model.cores;
    record.rates = rates_of(options, machine, costs);
    record.bandwidth = costs.bandwidth;

    TileOwners const owners = tile_owners(options.kind, options.grid, places, settings);
    TileTasks const tasks = build_tile_tasks(options.kind, options.grid, owners, record.rates);
    record.tasks = tasks.graph.num_tasks();
    record.work_s = tasks.total_cost();
    record.critical_path_s = tasks.critical_path();
    record.result = simulate_tiles(tasks, owners, model, costs.bandwidth, settings);
    if (options.prints()) print(text_of(record));
    if (trace_file) {
        trace::TraceParts parts = simulated_trace(tasks, model, record.result.run);
        parts.metadata.merge(trace_facts(options, record.machine, record.threads));
        write_trace(trace_file, trace::Trace(std::move(parts)));
    }
    if (json_file) json_file.write_text(json_of(record));
}

} // namespace espalier::command
