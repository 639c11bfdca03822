// `espalier analyze`: everything before numbers.
#include <fmt/format.h>

#include "espalier/espalier.hpp"
#include "run.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/processes.hpp"

namespace espalier::command {

namespace {

template <class T> void analyze_as(Run& run) {
    CscMatrix<T> const matrix = run.take_matrix<T>();
    Options options = run.library_options();
    // Held to it below, so that a factorization that does not fit is described before it is refused.
    std::uint64_t const limit = std::exchange(options.max_memory, 0);
    Solver<T> solver(options);
    solver.analyze(matrix);

    RunRecord& record = run.record();
    record.report = solver.report();
    int const processes = record.asked.processes.value_or(num_processes());
    if (run.trace_file())
        run.trace_file()->write([&](std::string const& path) {
            record.prediction = solver.write_predicted_trace(path, processes, record.report.threads,
                                                             record.matrix.description.name);
        });
    else
        record.prediction = solver.predict(processes, record.report.threads);
    record.report.processes = processes;
    record.report.analysis.predicted_factor_s = record.prediction->factor_s;
    std::uint64_t const needed = record.report.analysis.memory_bytes;
    bool const fits = limit == 0 || needed <= limit;
    record.status = fits ? Status::ok : Status::out_of_memory;
    run.stop_clock();
    run.print_results();
    if (!fits)
        throw Error(
            Status::out_of_memory,
            fmt::format("the factorization would need {} ({} bytes), more than --max-memory {} ({} bytes)",
                        readable_bytes(static_cast<double>(needed)), needed,
                        readable_bytes(static_cast<double>(limit)), limit));
    run.write_json();
}

} // namespace

void analyze(RunOptions const& options) {
    Run run(options, Run::Purpose::analysis);
    with_scalar(run.scalar(), [&run]<class T>(T) { analyze_as<T>(run); });
}

} // namespace espalier::command
