#include "run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/process_limits.hpp"
#include "runtime/topology.hpp"

namespace espalier::command {

namespace {

// Fills in what is known before the run, for the list of settings.
void expect(RunRecord& record, Run::Purpose purpose) {
    Report& report = record.report;
    report.method = record.asked.library.method;
    report.factorization = record.asked.library.factorization;
    report.ordering = record.asked.library.ordering;
    report.threads = record.asked.library.threads;
    report.refine.method = record.asked.library.refine;
    report.nrhs =
        record.asked.nrhs.value_or(is_generated_rhs(record.asked.rhs) ? 1 : 0); // 0: the columns of the file
    record.tolerance = effective_tolerance(record.asked.library.tolerance, report.scalar);
    record.numbers = purpose == Run::Purpose::solution;
}

} // namespace

Run::Run(RunOptions const& options, Purpose purpose, std::vector<std::string> machine)
    : json_file(options.json), solution_file(options.output), null_space_file(options.null_space),
      trace_file(options.trace),
      progress_(!options.quiet && stderr_shows_bars(),
                options.prints() && !(stderr_shows_bars() && stdout_is_terminal())) {
    record.asked = options;
    record.blas = blas_info();
    bool const verbose = options.prints() && options.verbose;
    if (machine.empty() && (verbose || !options.library.topology.empty()))
        machine = Topology::named(options.library.topology).describe();
    Timer const reading;
    std::tie(matrix_, record.matrix) = load_matrix(options, &progress_);
    record.read_s = reading.seconds();
    record.report.scalar = run_scalar(options, record.matrix);
    if (verbose) {
        RunRecord expected = record;
        expect(expected, purpose);
        print(settings_text(expected, machine));
    }
    if (options.prints()) print(matrix_text(record.matrix));
}

Options Run::library_options() {
    Options options = record.asked.library;
    options.progress = &progress_;
    if (record.asked.verbose && record.asked.prints())
        options.log = [](std::string_view line) { print(fmt::format("  {}\n", line)); };
    return options;
}

void Run::take(Prediction prediction) {
    Report& report = record.report;
    report.processes = prediction.processes;
    report.threads = prediction.threads;
    report.comm_threads = prediction.comm_threads;
    report.schedule = prediction.schedule;
    report.analysis = prediction.analysis;
    for (std::string const& note : prediction.notes)
        if (std::ranges::count(report.notes, note) == 0) report.notes.push_back(note);
    record.prediction = std::move(prediction);
}

void Run::stop_clock() {
    record.total_s = clock_.seconds();
    record.report.peak_memory_bytes = peak_rss_bytes();
}

void Run::print_results() const {
    if (record.asked.prints()) print(results_text(record));
}

void Run::write_json() const {
    if (json_file) json_file.write_text(json_report(record));
}

} // namespace espalier::command
