// `espalier solve`: analyze, factor, solve, refine, report.
#include <algorithm>

#include <fmt/format.h>

#include "commands.hpp"
#include "core/scalar.hpp"
#include "espalier/espalier.hpp"
#include "matrix/write.hpp"
#include "numbers.hpp"
#include "run.hpp"

namespace espalier::command {

namespace {

template <class T> bool all_finite(DenseMatrix<T> const& x) {
    return std::all_of(x.values.begin(), x.values.end(), [](T value) { return is_finite(value); });
}

// What the error line says of a solution that is not as good as it should be.
std::string shortcoming(RunRecord const& record, bool finite) {
    Report const& report = record.report;
    FactorReport const& factor = report.factor;
    std::string const lost = record.asked.output.empty() ? "" : " and is not written";
    if (record.status == Status::singular) {
        std::string const condition =
            factor.condition_estimate > 0
                ? fmt::format(" (condition number about {:.0e})", factor.condition_estimate)
                : "";
        return fmt::format("the matrix is numerically singular{}; the solution {}", condition,
                           finite ? fmt::format("has backward error {:.1e}", report.refine.backward_error)
                                  : "is not finite" + lost);
    }
    bool const single = report.scalar == Scalar::s || report.scalar == Scalar::c;
    std::string message =
        finite ? fmt::format("the backward error is {:.1e}, above the tolerance of {:.0e}",
                             report.refine.backward_error, record.tolerance)
               : fmt::format("the solution is not finite{}: it overflowed in {} precision", lost,
                             single ? "single" : "double");
    if (factor.pivots_replaced > 0)
        message += fmt::format("; {} replaced: the matrix is singular or nearly so",
                               counted(factor.pivots_replaced, "pivot was", "pivots were"));
    if (finite && record.asked.library.refine == RefineMethod::none) message += "; allow refinement";
    return message;
}

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
    bool const finite = all_finite(x);
    bool const accurate = finite && record.report.refine.converged;
    record.status = record.report.factor.numerically_singular ? Status::singular
                    : accurate                                ? Status::ok
                                                              : Status::inaccurate;
    record.tolerance = effective_tolerance(record.asked.library.tolerance, record.report.scalar);
    run.stop_clock();
    if (run.solution_file() && finite)
        run.solution_file()->write([&x](std::string const& path) { write_dense(path, x); });
    run.write_json();
    run.print_results();
    if (record.status != Status::ok) throw Error(record.status, shortcoming(record, finite));
}

} // namespace

void solve(RunOptions const& options) {
    Run run(options);
    with_scalar(run.scalar(), [&run]<class T>(T) { solve_as<T>(run); });
}

} // namespace espalier::command
