// `espalier solve`: analyze, factor, solve, refine, report.
#include <fmt/format.h>

#include "commands.hpp"
#include "espalier/espalier.hpp"
#include "matrix/write.hpp"
#include "run.hpp"

namespace espalier::command {

namespace {

// Everything between the matrix and the report. The solution is written before the report, so that a report
// that says "ok" never stands beside a solution that could not be written.
template <class T> void solve_as(Run& run) {
    CscMatrix<T> const matrix = run.take_matrix<T>();
    DenseMatrix<T> const b = right_hand_sides<T>(run.record().asked, matrix.rows);
    Solver<T> solver(run.library_options());
    solver.analyze(matrix);
    solver.factorize(matrix);
    DenseMatrix<T> x{b.rows, b.cols, solver.solve(b.values, b.cols)};
    solver.refine(matrix, b.values, x.values, b.cols);

    RunRecord& record = run.record();
    record.report = solver.report();
    record.numbers = true;
    record.status = record.report.refine.converged ? Status::ok : Status::inaccurate;
    record.tolerance = effective_tolerance(record.asked.library.tolerance, record.report.scalar);
    run.stop_clock();
    if (run.solution_file())
        run.solution_file()->write([&x](std::string const& path) { write_dense(path, x); });
    run.write_json();
    run.print_results();
    if (record.status == Status::inaccurate)
        throw Error(
            Status::inaccurate,
            fmt::format("the backward error is {:.1e}, above the tolerance of {:.0e}{}",
                        record.report.refine.backward_error, record.tolerance,
                        record.report.refine.method == RefineMethod::none ? "; allow refinement" : ""));
}

} // namespace

void solve(RunOptions const& options) {
    Run run(options);
    with_scalar(run.scalar(), [&run]<class T>(T) { solve_as<T>(run); });
}

} // namespace espalier::command
