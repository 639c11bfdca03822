// `espalier analyze`: the analysis, and the prediction of the factorization.
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "espalier/espalier.hpp"
#include "run.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/processes.hpp"
#include "tools/command/common/subcommand.hpp"

namespace espalier::command {

namespace {

// Predicts the factorization for the wanted number of processes.
template <class T> void predict(Run& run, Solver<T> const& solver) {
    RunRecord const& record = run.record;
    int const processes = record.asked.processes.value_or(num_processes());
    run.trace_file.write([&](std::string const& path) {
        int const threads = record.report.threads;
        run.take(path.empty() ? solver.predict(processes, threads)
                              : solver.write_predicted_trace(path, processes, threads,
                                                             record.matrix.description.name));
    });
}

// The analysis of an incomplete factorization predicts it for this machine alone.
void refuse_predictions_of_schedules(RunOptions const& asked) {
    if (asked.processes || !asked.trace.empty())
        throw Error(Status::usage, fmt::format("{} needs --method direct: incomplete factorizations are "
                                               "predicted for this machine, without a schedule",
                                               asked.processes ? "--processes" : "--trace"));
}

// The started processes that a prediction for `wanted` processes describes. They may share computers, which
// affects threads, memory and costs. If more are wanted than were started, each is assumed to have a computer
// of its own, like process 0 alone.
int started_processes(std::optional<int> wanted) {
    return !wanted ? num_processes() : *wanted <= num_processes() ? *wanted : 1;
}

// Analyzes within the limit. A factorization that exceeds it is described before it is refused with the error
// that is returned.
template <class T>
std::optional<Error> analyze_within(Solver<T>& solver, CscMatrix<T> const& matrix, std::uint64_t limit) {
    try {
        solver.analyze(matrix);
        return std::nullopt;
    } catch (Error const& error) {
        auto const& bytes = solver.report().analysis.memory_bytes_of_process;
        bool const is_analyzed = std::reduce(bytes.begin(), bytes.end()) > static_cast<double>(limit);
        if (error.status() != Status::out_of_memory || !is_analyzed) throw;
        Options unlimited = solver.options();
        unlimited.max_memory = 0;
        solver.set_options(unlimited);
        solver.analyze(matrix);
        return error;
    }
}

template <class T> void analyze_as(Run& run) {
    CscMatrix<T> const matrix = run.take_matrix<T>();
    Options options = run.library_options();
    // Predictions describe schedules, which exist only for factorizations with supernodes.
    if (options.supernodes == Toggle::automatic) options.supernodes = Toggle::on;
    RunRecord& record = run.record;
    Solver<T> solver(options,
                     processes_for_solver(scalar_of<T>, options, started_processes(record.asked.processes)));
    std::optional<Error> const refusal = analyze_within(solver, matrix, options.max_memory);
    record.report = solver.report();
    if (record.report.method == SolveMethod::ilu)
        refuse_predictions_of_schedules(record.asked);
    else
        predict(run, solver);
    record.status = refusal ? refusal->status() : Status::ok;
    run.stop_clock();
    run.print_results();
    if (refusal) throw Error(*refusal);
    run.write_json();
}

void analyze(RunOptions const& options) {
    Run run(options, Run::Purpose::analysis);
    with_scalar(run.scalar(), [&run]<class T>(T) { analyze_as<T>(run); });
}

void check_analyze(RunOptions const& run) {
    check(run);
    if (run.library.method == SolveMethod::ilu) refuse_predictions_of_schedules(run);
}

void declare_analyze(OptionSet& set, RunOptions& run) {
    add_matrix(set, run);
    add_input(set, run);
    set.library(run.library, subcommand::analyze);
    add_processes(set, run.processes,
                  "predict for this number of processes, with --threads workers each [those that mpirun "
                  "started, or 1]");
    add_trace(set, run.trace, "the predicted schedule");
    add_json(set, run.json);
    add_quiet(set, run.quiet);
    add_verbose(set, run.verbose);
}

std::string analyze_help() {
    return R"(Examples:
  espalier analyze matrix.mtx
  espalier analyze lap3d:80 --ordering metis --max-memory 8G --json analysis.json
  espalier analyze lap3d:80 --processes 8 --threads 32 --trace predicted.paje
  espalier analyze spe10like:60x220x85 --method ilu --levels 1
  espalier analyze lap3d:80 --topology 'numa:8 core:16'

Nothing proportional to the factor is allocated. With --max-memory the exit code says whether the
factorization would fit: 0, or 8.

The prediction maps the elimination tree to the processes and threads and simulates each task with
the cost model of this machine, under --schedule and --split, and with the measured network, or 2 us
and 10 GB/s between processes if none was measured. It ignores where memory lies; 'espalier simulate'
does not. --trace writes the predicted run, and 'espalier trace' draws it.

Under mpirun the prediction is for the processes that were started, and takes into account which of
them share a computer. More --processes than were started are assumed to have a computer each.

)" + generators() +
           "\n" + exit_codes();
}

} // namespace

Subcommand analyze_command() {
    return make_subcommand<RunOptions>(
        "analyze", "order the unknowns, and predict fill, memory and time, without factorizing", analyze_help,
        declare_analyze, check_analyze, analyze);
}

} // namespace espalier::command
