// `espalier dense`: a tiled dense factorization with the runtime and the policies of the sparse ones.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/analysis.hpp"
#include "machine/machine_file.hpp"
#include "policies/make_policy.hpp"
#include "report.hpp"
#include "simulated.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/command/solve/options.hpp"
#include "tools/dense/tile_kernels.hpp"
#include "tools/dense/tile_nodes.hpp"
#include "tools/dense/tile_simulation.hpp"

namespace espalier::command {

namespace {

constexpr std::int64_t most_tasks = 4'000'000; // about 100 bytes each

constexpr std::array<char const*, 2> kinds{"cholesky", "qr"}; // in the order of DenseKind

// Policies that take tasks to their data follow the pages, which need not be with the owners of the tiles.
bool follows_pages(SchedulePolicy policy, Topology const& topology) {
    bool const follows = policy == SchedulePolicy::places || policy == SchedulePolicy::nas;
    return follows && topology.is_this_machine() && topology.num_nodes() > 1;
}

DenseRun run_once(TiledMatrix& matrix, TileTasks const& tasks, Policy& policy, WorkerTeam& team) {
    DenseRun run;
    run.stats = factorize_tiles(matrix, tasks, policy, team);
    run.steals_by_distance = policy.steals_by_distance();
    run.accuracy = measure_accuracy(matrix);
    return run;
}

std::string shortcoming(DenseRecord const& record) {
    DenseAccuracy const worst = record.worst();
    bool const factors = worst.backward_error <= record.asked.tolerance;
    return fmt::format("{} is {:.1e}, above the tolerance of {:.0e}",
                       factors ? "the deviation of Q from orthogonality" : "the backward error",
                       factors ? *worst.orthogonality : worst.backward_error, record.asked.tolerance);
}

void dense(DenseOptions const& options) {
    if (options.is_simulated()) return simulate_dense(options);
    OutputFile const json_file(options.json), trace_file(options.trace);
    Topology const topology = Topology::named(options.library.topology);
    DenseRecord record;
    record.asked = options;
    record.machine = topology.machine_name();
    record.dgemm = measure_dgemm(1000, 0.2);
    record.rates = measure_rates(options.kind, std::min(options.grid.tile, options.grid.n));
    trace::Recorder recorder({}); // outlives the team, which records until its end
    WorkerTeam team(topology, options.library.threads);
    MachineModel const model = machine_model(topology, 1, team.size());
    PolicyMachine const machine(model.node_of_thread, model.node_distances);
    record.nodes = machine.num_nodes();
    record.threads = team.size();
    record.bound = team.bound();
    record.cores = std::min(team.size(), Topology::detect().num_cores());

    TileOwners const owners = tile_owners(options.kind, options.grid, machine, options.library);
    TiledMatrix matrix(options.kind, options.grid, owners, options.library.allocation);
    TileTasks tasks = build_tile_tasks(options.kind, options.grid, owners, record.rates);
    record.tasks = tasks.graph.num_tasks();
    record.work_s = tasks.total_cost();
    record.critical_path_s = tasks.critical_path();
    ScheduleSettings const& settings = options.library;
    TilePlan const plan(tasks, machine, settings.schedule);
    if (settings.schedule == SchedulePolicy::static_order) record.predicted_s = plan.schedule.makespan;
    std::vector<int> nodes; // of the tiles; empty on another machine
    for (int repeat = 1; repeat <= options.repeat; ++repeat) {
        if (trace_file && repeat == options.repeat) team.record(&recorder);
        matrix.fill(team);
        if (repeat == 1 && topology.is_this_machine()) {
            nodes = nodes_of_tiles(matrix, topology);
            record.tiles_of_node = tiles_of_nodes(nodes, topology.num_nodes());
            if (follows_pages(settings.schedule, topology))
                record.followed_tiles = follow_tiles(tasks, owners, nodes, team.places());
        }
        auto const policy = make_policy(settings, tasks.graph, machine, plan.for_policy());
        DenseRun& run = record.runs.emplace_back(run_once(matrix, tasks, *policy, team));
        if (!nodes.empty())
            run.local_share = share_at_tiles(tasks, run.stats.worker_of_task, nodes, team.places());
    }
    if (options.prints()) print(dense_text(record));
    if (trace_file) {
        for (auto const& [key, value] : trace_facts(options, record.machine, record.threads))
            recorder.set_metadata(key, value);
        write_trace(trace_file, trace::Trace(recorder.collect()));
    }
    if (json_file) json_file.write_text(dense_json(record));
    if (record.status() != Status::ok) throw Error(record.status(), shortcoming(record));
}

// Automatic schedules need a matrix with an elimination tree.
OptionRow without_auto(OptionRow row) {
    if (row.name != "schedule") return row;
    row.choices = row.choices.first(row.choices.size() - 1);
    row.help = row.help.substr(0, row.help.find("; auto:"));
    return row;
}

void declare_dense(OptionSet& set, DenseOptions& options) {
    set.group("Matrix");
    set.choice({"--kernel", "KIND", "factorization [cholesky]"}, kinds,
               [&options](std::size_t k) { options.kind = static_cast<DenseKind>(k); });
    set.count({"--n", "N", "order of the matrix [4000]"}, options.grid.n, 1, 1'000'000);
    set.count({"--tile", "B", "order of its tiles [256]"}, options.grid.tile, 1, 20'000);
    set.count({"--repeat", "R",
               "number of real factorizations, each of a new matrix; the report has the median [3]"},
              options.repeat, 1, 10'000);
    set.value(
        {"--tolerance", "E", "error up to which the factorization counts as correct [1e-12]"},
        [&options](std::string const& text) { options.tolerance = parse_positive("--tolerance", text); });
    set.group("Simulation");
    set.text({"--simulate", "MACHINE",
              "run in virtual time on MACHINE, spelled as for 'espalier simulate --machine'"},
             options.simulate);
    set.value({"--rate", "GFLOPS",
               "speed of every tile kernel on one core of the simulated machine [measured on this one]"},
              [&options](std::string const& text) { options.rate = parse_positive("--rate", text); });
    set.library(options.library, simulated_threads());
    for (OptionRow const& row : option_table())
        if ((row.subcommands & subcommand::dense) != 0 && row.name != "threads")
            set.library(options.library, without_auto(row));
    add_trace(set, options.trace, "the last factorization, or the simulated one,");
    add_json(set, options.json, "numbers");
    add_quiet(set, options.quiet);
}

void check_dense(DenseOptions const& options) {
    std::int64_t const count = (options.grid.n + options.grid.tile - 1) / options.grid.tile;
    if (num_tile_tasks(options.kind, count) > most_tasks)
        throw Error(
            Status::usage,
            fmt::format("--n {} and --tile {} make {} x {} tiles and more than {} tasks; take larger tiles",
                        options.grid.n, options.grid.tile, count, count, with_separators(most_tasks)));
    if (options.is_simulated() && !options.library.topology.empty())
        throw Error(Status::usage, "--simulate and --topology both name a machine");
    if (!options.is_simulated() && options.rate)
        throw Error(Status::usage, "--rate is the speed of a simulated core; give a machine with --simulate");
    if (OptionRow const& threads = option_row("threads");
        !options.is_simulated() && options.library.threads > threads.most)
        static_cast<void>(
            parse_count("--threads", get_option(options.library, "threads"), 1, threads.most, threads.unset));
    std::vector<NamedPath> const inputs{{"--topology", machine_file(options.library.topology)},
                                        {"--simulate", machine_file(options.simulate)}};
    refuse_same_files({{"--json", options.json}, {"--trace", options.trace}}, inputs);
    require_readable(inputs);
}

std::string dense_help() {
    return R"(Examples:
  espalier dense --kernel cholesky --n 8000 --tile 256
  espalier dense --kernel qr --schedule places --push pNumaW --select sProcNuma --strict
  espalier dense --schedule nas --topology 'numa:2 core:4' --n 2000 --tile 100
  espalier dense --threads 2 --trace run.paje && espalier trace run.paje --png run.png
  espalier dense --n 16384 --tile 512 --simulate 'numa:24 core:8' --rate 16 --schedule places

The command factorizes a random dense matrix in tiles, with the threads and policies for sparse
matrices, to compare schedules on a simple task graph. All policies give the same bits. The error is
|A - L L^T| / |A|, or the larger of |A - Q R| / |A| and |I - Q^T Q| / sqrt(n), estimated with random
vectors; the exit code is 7 if it is above the tolerance.

With --simulate nothing is factorized: the tasks run in virtual time on the machine, under the same
policies. Memory on another NUMA node and memory that many threads use at once slow tasks down.
)";
}

} // namespace

Subcommand dense_command() {
    Subcommand command =
        make_subcommand<DenseOptions>("dense", "run or simulate tiled dense Cholesky or QR, to try schedules",
                                      dense_help, declare_dense, check_dense, dense);
    command.takes_file = false;
    return command;
}

} // namespace espalier::command
