// `espalier simulate`: the same work on a machine that is not here.
#include "simulate.hpp"

#include "commands.hpp"
#include "run.hpp"

namespace espalier::command {

namespace {

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
    Run run(options.run);
    with_scalar(run.scalar(), [&]<class T>(T) { simulate_as<T>(run, options); });
}

} // namespace espalier::command
