// `espalier solve`: analyze, factorize, solve, refine, report.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "distributed/distributed_matrix.hpp"
#include "espalier/espalier.hpp"
#include "io/write.hpp"
#include "run.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/processes.hpp"
#include "tools/command/common/subcommand.hpp"

namespace espalier::command {

namespace {

template <class T> bool all_finite(DenseMatrix<T> const& x) {
    return std::all_of(x.values.begin(), x.values.end(), [](T value) { return is_finite(value); });
}

// The error message for an inaccurate solution or a singular matrix.
std::string shortcoming(RunRecord const& record, bool finite) {
    Report const& report = record.report;
    FactorReport const& factor = report.factor;
    std::string const lost = record.asked.output.empty() ? "" : " and is not written";
    if (record.null_space && record.null_space->nullity > 0)
        return fmt::format("the matrix has rank {}, and this right-hand side has no solution: {}",
                           record.null_space->rank, error_above_tolerance(report.refine, record.tolerance));
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
    std::string message = finite ? error_above_tolerance(report.refine, record.tolerance)
                                 : fmt::format("the solution is not finite{}: it overflowed in {} precision",
                                               lost, single ? "single" : "double");
    if (report.method == SolveMethod::ilu)
        message += fmt::format(" after {}; try more --levels, another --ordering, or --method direct",
                               counted(report.refine.iterations, "iteration"));
    else if (factor.pivots_replaced > 0)
        message += fmt::format(
            "; {} replaced{}", counted(factor.pivots_replaced, "pivot was", "pivots were"),
            record.asked.library.pivoting != Pivoting::static_pivots ? ": the matrix is singular or nearly so"
            : record.asked.library.splitting == Splitting::two_d
                ? "; --pivoting auto without --split 2d avoids this unless the matrix is singular"
                : "; --pivoting auto avoids this unless the matrix is singular");
    if (finite && record.asked.library.refine == RefineMethod::none)
        message += "; --refine auto may reduce it";
    return message;
}

template <class T> MatrixKnowledge knowledge_of(Solver<T>& solver) {
    MatrixKnowledge known;
    Factorization const kind = solver.report().factorization;
    bool const self_adjoint = kind == Factorization::llh || kind == Factorization::ldlh ||
                              (!is_complex<T> && kind != Factorization::lu);
    if (self_adjoint) known.inertia = solver.inertia();
    Determinant<T> const determinant = solver.determinant();
    known.determinant_is_zero = determinant.phase == T(0);
    known.determinant_log = determinant.log_modulus;
    known.determinant_phase = static_cast<double>(std::arg(determinant.phase));
    return known;
}

// Removes from x its part in the null space, whose columns are orthonormal.
template <class T> void project_out(DenseMatrix<T> const& null_space, DenseMatrix<T>& x) {
    for (Index j = 0; j < x.cols; ++j)
        for (Index k = 0; k < null_space.cols; ++k) {
            T const* const v = null_space.column(k);
            T part(0);
            for (Index i = 0; i < x.rows; ++i) part += conj(v[i]) * x.column(j)[i];
            for (Index i = 0; i < x.rows; ++i) x.column(j)[i] -= part * v[i];
        }
}

// The solution of a rank-deficient system that is orthogonal to the null space, if there is one. Each step of
// refinement removes the part in the null space; the last call measures the errors.
template <class T> DenseMatrix<T> solve_rank_deficient(Solver<T>& solver, CscMatrix<T> const& matrix,
                                                       DenseMatrix<T> const& b,
                                                       NullSpace<T> const& null_space) {
    DenseMatrix<T> x{b.rows, b.cols, std::vector<T>(b.values.size(), T(0))};
    DenseMatrix<T> step = b;
    for (int pass = 0; pass < 3; ++pass) {
        solver.solve_in_place(step.values, step.cols);
        project_out(null_space.basis, step);
        for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += step.values[i];
        DistributedMatrix<T>(matrix).residual(x.values, b.values, step.values, b.cols);
    }
    Options measuring = solver.options();
    measuring.refine = RefineMethod::none;
    solver.set_options(measuring);
    solver.refine(matrix, b.values, x.values, b.cols);
    return x;
}

template <class T> NullSpace<T> find_null_space(Run& run, Solver<T>& solver, CscMatrix<T> const& matrix) {
    if (!run.null_space_file) return {};
    NullSpace<T> null_space = solver.null_space(matrix);
    run.record.null_space = {null_space.rank, null_space.basis.cols, null_space.singular_values};
    return null_space;
}

template <class T> DenseMatrix<T> solve_system(RunOptions const& asked, Solver<T>& solver,
                                               CscMatrix<T> const& matrix, DenseMatrix<T> const& b,
                                               NullSpace<T> const& null_space) {
    if (null_space.basis.cols > 0) return solve_rank_deficient(solver, matrix, b, null_space);
    DenseMatrix<T> x{b.rows, b.cols, solver.solve(b.values, b.cols, asked.op)};
    solver.refine(matrix, b.values, x.values, b.cols, asked.op);
    return x;
}

// Takes the report of the solver, with a note if the factors do not determine what --condition asks for.
template <class T> void take_report(RunRecord& record, Solver<T>& solver) {
    std::string unknown;
    try {
        if (record.asked.library.condition) record.knowledge = knowledge_of(solver);
    } catch (Error const& error) {
        if (error.status() != Status::inaccurate) throw;
        unknown = error.what();
    }
    record.report = solver.report();
    if (!unknown.empty()) record.report.notes.push_back(std::move(unknown));
    record.numbers = true;
}

// Sets the status. With --null-space a singular matrix is expected, and only a system without a solution is
// an error.
void judge(RunRecord& record, bool finite) {
    bool const accurate = finite && record.report.refine.converged;
    bool const has_null_space = record.null_space && record.null_space->nullity > 0;
    bool const singular = has_null_space ? !accurate : record.report.factor.numerically_singular;
    record.status = singular ? Status::singular : accurate ? Status::ok : Status::inaccurate;
    record.tolerance = effective_tolerance(record.asked.library.tolerance, record.report.scalar);
}

// Writes all files but the report.
template <class T>
void write_files(Run& run, Solver<T>& solver, DenseMatrix<T> const& x, DenseMatrix<T> const& null_space) {
    if (run.solution_file && all_finite(x))
        run.solution_file.write([&](std::string const& path) { write_dense(path, x); });
    if (run.null_space_file)
        run.null_space_file.write([&](std::string const& path) { write_dense(path, null_space); });
    if (run.trace_file)
        run.trace_file.write(
            [&](std::string const& path) { solver.write_trace(path, run.record.matrix.description.name); });
}

// The run of one scalar type. The solution is written before the report, so a report with status "ok" implies
// that the solution was written.
template <class T> void solve_as(Run& run) {
    CscMatrix<T> const matrix = run.take_matrix<T>();
    DenseMatrix<T> const b = right_hand_sides<T>(run.record.asked, matrix.rows);
    Options library = run.library_options();
    library.record_trace = static_cast<bool>(run.trace_file);
    library.allow_singular = static_cast<bool>(run.null_space_file);
    Solver<T> solver = solver_of_all<T>(library);
    solver.analyze(matrix);
    solver.factorize(matrix);
    NullSpace<T> const null_space = find_null_space(run, solver, matrix);
    DenseMatrix<T> const x = solve_system(run.record.asked, solver, matrix, b, null_space);
    bool const finite = all_finite(x);
    take_report(run.record, solver);
    judge(run.record, finite);
    run.stop_clock();
    write_files(run, solver, x, null_space.basis);
    run.write_json();
    run.print_results();
    if (run.record.status != Status::ok) throw Error(run.record.status, shortcoming(run.record, finite));
}

void solve(RunOptions const& options) {
    Run run(options, Run::Purpose::solution);
    with_scalar(run.scalar(), [&run]<class T>(T) { solve_as<T>(run); });
}

void declare_solve(OptionSet& set, RunOptions& run) {
    add_matrix(set, run);
    add_right_hand_sides(set, run);
    add_input(set, run);
    set.library(run.library, subcommand::solve);
    set.group("Output");
    set.text({"--output", "FILE", "write the solution as a Matrix Market array (- is standard output)"},
             run.output);
    set.text({"--null-space", "FILE",
              "accept a singular matrix, and write an orthonormal basis of its null space as a Matrix Market "
              "array (- is standard output)"},
             run.null_space);
    add_trace(set, run.trace, "what each thread does");
    add_json(set, run.json);
    add_quiet(set, run.quiet);
    add_verbose(set, run.verbose);
}

std::string solve_help() {
    return R"(Examples:
  espalier solve matrix.mtx
  espalier solve lap3d:40 --rhs random --nrhs 8 --json report.json
  espalier solve a.rua.gz --factorization lu --refine gmres --output x.mtx
  espalier solve big.mtx --precision s --max-memory 4G
  espalier solve big.mtx --mixed-precision           half the memory, then full accuracy
  espalier solve kkt.mtx --condition                 condition, forward error, inertia, determinant
  espalier solve flow.mtx --method ilu --levels 1    incomplete factorization and GMRES
  espalier solve neumann.mtx --null-space z.mtx --output x.mtx
  gzip -dc matrix.mtx.gz | espalier solve -          the matrix from standard input
  espalier solve matrix.mtx --json - | python3 -m json.tool
  mpirun -np 4 --bind-to none espalier solve big.mtx --threads 8
  espalier solve lap3d:40 --threads 2 --trace run.paje && espalier trace run.paje --png run.png

--factorization auto tries llh if the matrix is Hermitian or real symmetric, unless its diagonal or a
large off-diagonal entry shows that it is not positive definite. If llh finds a pivot that is not
positive, ldlt (real matrices) or ldlh (complex ones) follows. Other symmetric and Hermitian matrices
get ldlt or ldlh, general matrices lu. The report says which one was used.

Unsymmetric and indefinite matrices are scaled, and matched if their diagonal is weak, unless
--scaling or --matching is given. The notes of the report list what was done.

The files of --json and --output appear whole or not at all. If there is no solution, neither is
written. If the solution is inaccurate or the matrix numerically singular (exit codes 7 and 5), both
are written, unless the solution overflowed.

Under mpirun all processes of the job factorize together, each with --threads workers. The first
process reads, writes and reports; with --input distributed each process reads its part of the
files. docs/clusters.md explains how to start a job.

A terminal shows a bar for each long phase; a pipe gets one line for each phase.

)" + generators() +
           "\n" + exit_codes();
}

} // namespace

Subcommand solve_command() {
    return make_subcommand<RunOptions>(
        "solve", "solve a system and report the error of the solution", solve_help, declare_solve,
        [](RunOptions const& run) { check(run); }, solve);
}

} // namespace espalier::command
