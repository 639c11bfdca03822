// `espalier dense`: a tiled dense factorization with the runtime and the policies of the sparse ones.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "machine/machine_file.hpp"
#include "policies/make_policy.hpp"
#include "report.hpp"
#include "simulation/candidate_queues.hpp"
#include "solver/analysis.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/dense/dense_run.hpp"
#include "tools/dense/tile_kernels.hpp"
#include "trace/paje.hpp"

namespace espalier::command {

namespace {

// The plan of a policy. In the static lists, each task runs on the owner of the tile that it writes.
struct Plan {
    StaticSchedule schedule;
    std::vector<WorkerRange> ranges;

    Plan(TileTasks const& tasks, PolicyMachine const& machine, SchedulePolicy kind) {
        if (kind == SchedulePolicy::static_order)
            schedule = list_schedule(tasks.graph, machine.num_workers());
        if (kind == SchedulePolicy::dynamic_tree) ranges = candidate_workers(tasks, machine);
    }
    [[nodiscard]] PolicyPlan for_policy() const { return {&schedule.lists, &ranges}; }
};

DenseRun run_once(TiledMatrix& matrix, TileTasks const& tasks, Policy& policy, WorkerTeam& team) {
    matrix.fill(team);
    DenseRun run;
    run.stats = factorize_tiles(matrix, tasks, policy, team);
    run.steals_by_distance = policy.steals_by_distance();
    run.accuracy = measure_accuracy(matrix);
    return run;
}

void write_trace(OutputFile const& file, trace::Recorder& recorder, DenseRecord const& record) {
    DenseOptions const& asked = record.asked;
    std::map<std::string, std::string> const facts = {
        {"program", "espalier " ESPALIER_VERSION},
        {"machine", record.machine},
        {"matrix",
         fmt::format("dense {} {}, tiles of {}", to_string(asked.kind), asked.grid.n, asked.grid.tile)},
        {"schedule", to_string(asked.library.schedule)},
        {"alloc", to_string(asked.library.allocation)},
        {"threads", std::to_string(record.threads)},
        {"processes", "1"}};
    for (auto const& [key, value] : facts) recorder.set_metadata(key, value);
    trace::Trace const trace(recorder.collect());
    file.write([&trace](std::string const& path) {
        AtomicFile output(path);
        trace::write_paje(trace, [&output](std::string_view text) { output.write(text); });
        output.commit();
    });
}

std::string shortcoming(DenseRecord const& record) {
    DenseAccuracy const worst = record.worst();
    bool const factors = worst.backward_error <= record.asked.tolerance;
    return fmt::format("{} is {:.1e}, above the tolerance of {:.0e}",
                       factors ? "the deviation of Q from orthogonality" : "the backward error",
                       factors ? *worst.orthogonality : worst.backward_error, record.asked.tolerance);
}

void dense(DenseOptions const& options) {
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

    TiledMatrix matrix(options.kind, options.grid, team.size(), options.library.allocation);
    TileTasks const tasks = build_tile_tasks(options.kind, options.grid, team.size(), record.rates);
    record.tasks = tasks.graph.num_tasks();
    record.work_s = tasks.total_cost();
    record.critical_path_s = tasks.critical_path();
    ScheduleSettings const& settings = options.library;
    Plan const plan(tasks, machine, settings.schedule);
    if (settings.schedule == SchedulePolicy::static_order) record.predicted_s = plan.schedule.makespan;
    for (int repeat = 1; repeat <= options.repeat; ++repeat) {
        if (trace_file && repeat == options.repeat) team.record(&recorder);
        auto const policy = make_policy(settings, tasks.graph, machine, plan.for_policy());
        record.runs.push_back(run_once(matrix, tasks, *policy, team));
    }
    if (options.prints()) print(dense_text(record));
    if (trace_file) write_trace(trace_file, recorder, record);
    if (json_file) json_file.write_text(dense_json(record));
    if (record.status() != Status::ok) throw Error(record.status(), shortcoming(record));
}

} // namespace

Subcommand dense_command() {
    Subcommand command = make_subcommand<DenseOptions>(
        "dense", "tiled dense Cholesky or QR, to try schedules", dense_help, declare_dense,
        [](DenseOptions const& options) { check(options); }, dense);
    command.takes_file = false;
    return command;
}

} // namespace espalier::command
