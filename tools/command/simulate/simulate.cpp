// `espalier simulate`: the same work on a machine that is not here.
#include "simulate.hpp"

#include <fmt/format.h>

#include "machine/machine_file.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/solve/run.hpp"

namespace espalier::command {

namespace {

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
    if (!machine.kernels.empty()) lines.emplace_back("cost model  that of the machine file");
    if (machine.count > 0) lines.push_back(fmt::format("computers   {}", machine.count));
    if (!machine.is_here)
        lines.push_back(fmt::format("network     {:.1f} us, {:.1f} GB/s", model.network.latency * 1e6,
                                    model.network.bandwidth / 1e9));
    return lines;
}

template <class T> void simulate_as(Run& run, SimulateOptions const& options) {
    CscMatrix<T> const matrix = run.take_matrix<T>();
    Options here = run.library_options();
    here.threads = 0; // those asked for are elsewhere
    Solver<T> solver(here);
    solver.analyze(matrix);

    RunRecord& record = run.record();
    record.report = solver.report();
    Simulation what = simulation_of(options.run.library, options.machine, options.run.processes.value_or(1),
                                    options.run.library.threads);
    what.matrix_name = record.matrix.description.name;
    SimulatedRun simulated;
    if (run.trace_file())
        run.trace_file()->write([&](std::string const& path) {
            what.trace = path;
            simulated = simulate_once(solver, what);
        });
    else
        simulated = simulate_once(solver, what);
    record.simulation = SimulationFacts{options.machine, simulated.simulate_s};
    record.report.processes = simulated.prediction.processes;
    record.report.threads = simulated.prediction.threads;
    record.report.analysis.predicted_factor_s = simulated.prediction.factor_s;
    record.prediction = std::move(simulated.prediction);
    run.stop_clock();
    run.print_results();
    run.write_json();
}

} // namespace

void simulate(SimulateOptions const& options) {
    SimulatedMachine const machine = find_machine(options.machine);
    MachineModel const model = machine.model(options.run.processes.value_or(1), options.run.library.threads);
    Run run(options.run, Run::Purpose::analysis, description(machine, model));
    with_scalar(run.scalar(), [&]<class T>(T) { simulate_as<T>(run, options); });
}

} // namespace espalier::command
