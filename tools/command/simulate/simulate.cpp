// `espalier simulate`: the factorization in virtual time on another machine.
#include <fmt/format.h>

#include "core/timer.hpp"
#include "espalier/espalier.hpp"
#include "espalier/simulation.hpp"
#include "machine/machine_file.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/command/solve/run.hpp"

namespace espalier::command {

namespace {

struct SimulateOptions {
    RunOptions run;
    std::string machine = "here"; ///< As Simulation::machine.
};

// For --verbose.
std::vector<std::string> description(SimulatedMachine const& machine, MachineModel const& model) {
    std::vector<std::string> lines{
        fmt::format("machine     {}{}", machine.name, machine.is_here ? "" : " (simulated)"),
        fmt::format("cores       {}, {} used", machine.num_cores(), model.threads),
        fmt::format("memory      {}", counted(model.num_nodes(), "NUMA node"))};
    if (model.memory.node_bandwidth > 0)
        lines.back() += fmt::format(", {:.1f} GB/s each", model.memory.node_bandwidth / 1e9);
    if (machine.bandwidth) lines.back() += fmt::format(", {:.1f} GB/s by one core", *machine.bandwidth / 1e9);
    if (machine.speed != 1)
        lines.push_back(fmt::format("speed       {} of that of the cost model", machine.speed));
    if (!machine.models.empty()) lines.emplace_back("cost model  that of the machine file");
    if (machine.count > 0) lines.push_back(fmt::format("computers   {}", machine.count));
    if (!machine.is_here)
        lines.push_back(fmt::format("network     {:.1f} us, {:.1f} GB/s", model.network.latency * 1e6,
                                    model.network.bandwidth / 1e9));
    return lines;
}

template <class T> void simulate_as(Run& run, SimulateOptions const& options, MachineModel const& model) {
    CscMatrix<T> const matrix = run.take_matrix<T>();
    Options here = run.library_options();
    // threads, an automatic schedule and splitting are those of the simulated machine
    here.threads = 0;
    here.schedule = Options{}.schedule;
    here.splitting = Options{}.splitting;
    here.supernodes = Toggle::on; // schedules concern only supernodes
    Solver<T> solver(here);
    solver.analyze(matrix);

    RunRecord& record = run.record;
    record.report = solver.report();
    Simulation what = simulation_of(options.run.library, options.machine, options.run.processes.value_or(1),
                                    options.run.library.threads);
    what.matrix_name = record.matrix.description.name;
    Timer const timer;
    run.trace_file.write([&](std::string const& path) {
        what.trace = path;
        run.take(solver.simulate(what));
    });
    record.simulation = SimulationFacts{options.machine, timer.seconds()};
    if (model.shares_cores())
        record.report.notes.push_back(
            fmt::format("the {} threads of a process share {}: the time of a task is multiplied by the "
                        "number of tasks on its core",
                        model.threads, counted(model.cores, "core")));
    run.stop_clock();
    run.print_results();
    run.write_json();
}

void simulate(SimulateOptions const& options) {
    SimulatedMachine const machine = find_machine(options.machine);
    MachineModel const model = machine.model(options.run.processes.value_or(1), options.run.library.threads);
    Run run(options.run, Run::Purpose::analysis, description(machine, model));
    with_scalar(run.scalar(), [&]<class T>(T) { simulate_as<T>(run, options, model); });
}

void declare_simulate(OptionSet& set, SimulateOptions& options) {
    add_matrix(set, options.run);
    set.group("Machine");
    set.text({"--machine", "MACHINE",
              "machine file (.json), which 'espalier machine --json' also writes; an XML file of lstopo; or "
              "a description such as 'numa:4 core:8' [here: this machine]"},
             options.machine);
    add_processes(set, options.run.processes, "processes, each on a machine of its own [1]");
    set.library(options.run.library, simulated_threads());
    for (OptionRow const& row : option_table())
        if ((row.subcommands & subcommand::simulate) != 0 && row.name != "threads")
            set.library(options.run.library, row);
    add_trace(set, options.run.trace, "the simulated run");
    add_json(set, options.run.json);
    add_quiet(set, options.run.quiet);
    add_verbose(set, options.run.verbose);
}

void check_simulate(SimulateOptions const& options) {
    check(options.run);
    std::vector<NamedPath> const inputs{{"--machine", machine_file(options.machine)}};
    refuse_same_files({{"--json", options.run.json}, {"--trace", options.run.trace}}, inputs);
    require_readable(inputs);
}

std::string simulate_help() {
    return R"(Examples:
  espalier simulate lap3d:60 --machine 'numa:4 core:8' --schedule dynamic --split 2d
  espalier simulate a.mtx --machine cluster.json --processes 8 --threads 32 --trace run.paje
  espalier machine --json this.json && espalier simulate a.mtx --machine this.json

Nothing is factorized. The matrix is analyzed here, and the tasks of its factorization run in
virtual time on the machine, under the scheduling policies of real runs. Times come from the cost
model of this machine unless the machine file has its own. Memory on another NUMA node slows tasks
down, and so does memory that many threads use at once. docs/simulation.md explains the model, and
docs/machine-file.md the file.
)";
}

} // namespace

Subcommand simulate_command() {
    return make_subcommand<SimulateOptions>("simulate",
                                            "simulate the factorization on a machine that is not available",
                                            simulate_help, declare_simulate, check_simulate, simulate);
}

} // namespace espalier::command
