// Solves and refinement in espalier::Solver, and the results that need solves: condition numbers and null
// spaces.
#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "core/counted.hpp"
#include "core/progress.hpp"
#include "core/timer.hpp"
#include "distributed/backward_error.hpp"
#include "kernels/blas.hpp"
#include "options/report_table.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

// Checks the size of whole columns on process 0, and sets the layout of the caller.
template <class T> void Solver<T>::State::expect_blocks(std::size_t entries, char const* what) {
    context_.on_root([&] { require_block(entries, system_->order, call_.columns, what); });
    vectors_->set_callers_rows(context_.is_root() ? system_->order : 0);
}

// Checks blocks of which each process has consecutive rows, and sets the layout of the caller.
template <class T> void Solver<T>::State::expect_rows(std::size_t entries, Index columns, MatrixOp op) {
    Index const rows = columns > 0 ? static_cast<Index>(entries) / columns : 0;
    context_.on_all([&] {
        if (columns != call_.columns)
            throw Error(Status::usage,
                        fmt::format("this process has {} right-hand sides, but process 0 has {}", columns,
                                    call_.columns));
        if (op != call_.op)
            throw Error(Status::usage, fmt::format("op is {} on this process, but {} on process 0",
                                                   to_string(op), to_string(call_.op)));
        if (columns < 0 || static_cast<std::size_t>(rows * columns) != entries)
            throw Error(Status::usage,
                        fmt::format("a block of {} entries cannot have {} columns of equal length", entries,
                                    columns));
    });
    if (columns == 0) return;
    Index const all = sum(context_.comm(), rows);
    if (all != system_->order)
        throw Error(Status::usage,
                    fmt::format("the parts of all processes have {} rows in total; the matrix has {}", all,
                                system_->order));
    vectors_->set_callers_rows(rows);
}

template <class T> void Solver<T>::State::begin_solve(std::size_t entries) {
    require("solve", {Need::all_eliminated});
    expect_blocks(entries, "the right-hand side");
    require_memory_of_solve();
}

template <class T> void Solver<T>::State::solve_in_place(std::span<T> x) {
    begin_solve(x.size());
    context_.on_all([] {}); // other processes may call solve(), which copies b here
    solve_given(context_.is_root() ? x : std::span<T>());
}

template <class T> std::vector<T> Solver<T>::State::solve(std::span<T const> b) {
    begin_solve(b.size());
    if (!context_.is_root()) b = {};
    std::vector<T> x = context_.on_all([&] { return std::vector<T>(b.begin(), b.end()); });
    solve_given(x);
    return x;
}

template <class T>
std::vector<T> Solver<T>::State::solve_rows(std::span<T const> b, Index columns, MatrixOp op) {
    require("solve_rows", {Need::all_eliminated});
    expect_rows(b.size(), columns, op);
    require_memory_of_solve();
    std::vector<T> x = context_.on_all([&] { return std::vector<T>(b.begin(), b.end()); });
    solve_given(x);
    return x;
}

// x := op(A)^-1 x, in the layout of the caller.
template <class T> void Solver<T>::State::solve_given(std::span<T> x) {
    Timer const timer;
    std::optional<SingleThreadedBlas> blas;
    if (!system_->is_simplicial) blas.emplace(); // it would take a large part of a small solve
    trace::Scope const recorded(context_.phases(), trace::Kind::solve);
    if (vectors_->is_in_place()) {
        refiner_->apply_inverse(x, call_.columns, call_.op);
    } else if (call_.columns > 0) {
        std::vector<T> own = vectors_->right_hand_sides(x, call_.columns, call_.op);
        refiner_->apply_inverse(own, call_.columns, call_.op);
        vectors_->return_solutions(own, x, call_.columns, call_.op);
    }
    report_solve(timer);
}

template <class T> void Solver<T>::State::report_solve(Timer const& timer) {
    report.solve_s = timer.seconds();
    report.nrhs = call_.columns;
}

template <class T> DenseMatrix<T> Solver<T>::State::solve_sparse(CscMatrix<T> const& b) {
    require("solve", {Need::all_eliminated});
    Index const n = system_->order;
    Timer const timer;
    DenseMatrix<T> x;
    CallMemory needed = memory_of_solve(vector_layout(), call_.columns);
    needed.bytes =
        3 * static_cast<std::uint64_t>(b.stored()) * (sizeof(T) + sizeof(Index)); // scaled, and by blocks
    require_memory_of_columns(needed, "a solve");
    context_.on_root([&] {
        if (b.rows != n || b.symmetry != Symmetry::general)
            throw Error(Status::usage, fmt::format("sparse right-hand sides need {} rows and symmetry "
                                                   "general; these have {} rows and symmetry {}",
                                                   n, b.rows, to_string(b.symmetry)));
        b.validate();
        x = {n, b.cols, std::vector<T>(n * b.cols)};
    });
    if (context_.is_alone() && !factor_.is_narrow() && !system_->is_incomplete && !system_->is_simplicial) {
        SingleThreadedBlas const blas;
        trace::Scope const recorded(context_.phases(), trace::Kind::solve);
        ScaledSystem<T> const& system = analysis_->system;
        factor_.solve_sparse(system.to_working(b, call_.op),
                             {x.values.data(), n, b.cols, std::max<Index>(1, n)}, call_.op);
        system.from_working(x.values, b.cols, call_.op);
    } else {
        if (context_.is_root())
            for (Index j = 0; j < b.cols; ++j)
                for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p)
                    x.column(j)[b.row_ind[p]] += b.values[p];
        vectors_->set_callers_rows(x.rows);
        solve_given(x.values);
    }
    report_solve(timer);
    return x;
}

template <class T>
RefineReport Solver<T>::State::refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x) {
    require("refine", {Need::all_eliminated});
    if (auto report_of_one_pass = accept_given(matrix, b, x)) return *std::move(report_of_one_pass);
    use_matrix(matrix, "refine");
    expect_blocks(b.size(), "the right-hand side");
    expect_blocks(x.size(), "the solution");
    return context_.is_root() ? refine_given(matrix, b, x) : refine_given(matrix, {}, {});
}

template <class T> RefineReport Solver<T>::State::refine_rows(CscMatrix<T> const& matrix,
                                                              std::span<T const> b, std::span<T> x,
                                                              Index columns, MatrixOp op) {
    require("refine_rows", {Need::all_eliminated});
    use_matrix(matrix, "refine_rows");
    expect_rows(b.size(), columns, op);
    context_.on_all([&] {
        if (x.size() != b.size())
            throw Error(Status::usage, fmt::format("x has {} entries, but b has {}", x.size(), b.size()));
    });
    return refine_given(matrix, b, x);
}

// Most solutions need no refinement. With one process, a single pass over the matrix of the caller shows
// that. Returns nothing if it does not.
template <class T> std::optional<RefineReport>
Solver<T>::State::accept_given(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T const> x) {
    // Limits of memory and the bounds of errors concern the matrix of the refiner.
    if (!context_.is_alone() || options.condition || options.max_memory > 0) return {};
    expect_blocks(b.size(), "the right-hand side");
    expect_blocks(x.size(), "the solution");
    ScalingChoice const& scaling = analysis_->system.choice();
    trace::Scope const recorded(context_.phases(), trace::Kind::refinement);
    trace::Scope const worked(options.record_trace ? context_.workers().track(0) : nullptr,
                              trace::Kind::refine);
    auto found = refiner_->report_of_given(matrix, pattern_, {scaling.row_scale, scaling.column_scale}, b, x,
                                           call_.columns, refine_options());
    if (!found) return {};
    report.refine = *std::move(found);
    report.peak_memory_bytes = peak_memory();
    return report.refine;
}

// Sets the matrix of the refiner to `matrix` of process 0, which should be the factorized one.
template <class T> void Solver<T>::State::use_matrix(CscMatrix<T> const& matrix, char const* what) {
    bool const is_new = context_.on_root([&] {
        require_pattern(matrix, pattern_, what, context_.threads());
        if (working_.has_values_of(matrix, context_.threads())) return false;
        working_.set(matrix, analysis_->system, context_.threads());
        return true;
    });
    if (is_new) refiner_->set_matrix(working_.of(matrix));
}

// b and x are in the layout of the caller.
template <class T> RefineReport Solver<T>::State::refine_given(CscMatrix<T> const& matrix,
                                                               std::span<T const> b, std::span<T> x) {
    require_memory_of_refinement();
    SingleThreadedBlas const blas;
    trace::Scope const recorded(context_.phases(), trace::Kind::refinement);
    trace::Scope const worked(options.record_trace ? context_.workers().track(0) : nullptr,
                              trace::Kind::refine);
    if (vectors_->is_in_place() || call_.columns == 0) {
        refine_own(matrix, b, x);
    } else {
        std::vector<T> const own_b = vectors_->right_hand_sides(b, call_.columns, call_.op);
        std::vector<T> own_x = vectors_->solutions(x, call_.columns, call_.op);
        std::optional<Error> const problem = error_of([&] { refine_own(matrix, own_b, own_x); });
        vectors_->return_solutions(own_x, x, call_.columns, call_.op); // returns the best iterates
        if (problem) throw *problem;
    }
    report.factor.numerically_singular = refiner_->verdict().singularity.lacks_unique_solutions;
    if (report.factor.numerically_singular) report.refine.status = Status::singular;
    report.peak_memory_bytes = context_.on_all([&] { return peak_memory(); });
    return context_.is_alone() ? report.refine : context_.on_root([&] { return report; }).refine;
}

template <class T> RefineOptions Solver<T>::State::refine_options() const {
    RefineOptions run;
    run.method = options.refine;
    run.max_iterations = options.max_refine_iterations;
    run.tolerance = options.tolerance;
    run.progress = progress();
    run.op = call_.op;
    run.interrupt = context_.interrupt();
    return run;
}

// b and x are in owned rows.
template <class T>
void Solver<T>::State::refine_own(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x) {
    RefineOptions run = refine_options();
    run.max_bytes = require_memory_of_refinement();
    report.refine = refiner_->refine(b, x, call_.columns, run);
    if (system_->is_incomplete) report_applications();
    if (!factor_.is_narrow() || report.refine.converged || options.refine == RefineMethod::none)
        return bound_forward_error(b, x);
    notes_.add("refinement from single precision ended at a backward error of {:.1e}; factorizing in double",
               report.refine.backward_error);
    report.factor.precision_fell_back = true;
    factorized_ = false; // no factors exist until this succeeds
    factorize_with_supernodes(matrix, {.in_full = true});
    factorized_ = true;
    std::vector<T> solved = context_.on_all([&] { return std::vector<T>(b.begin(), b.end()); });
    refiner_->apply_inverse(solved, call_.columns, call_.op);
    std::copy(solved.begin(), solved.end(), x.begin());
    run.max_bytes = require_memory_of_refinement();
    report.refine = refiner_->refine(b, x, call_.columns, run);
    bound_forward_error(b, x);
}

// Reports the iterations with an incomplete factorization, with a note if they were not enough.
template <class T> void Solver<T>::State::report_applications() {
    incomplete_.fill(report.incomplete);
    RefineReport const& refined = report.refine;
    report.incomplete.iterations = refined.iterations;
    if (refined.converged || options.refine == RefineMethod::none) return;
    notes_.add("{} with {}({}) ended at a backward error of {:.1e} after {} in total; more levels of "
               "fill, another ordering or method direct may help",
               to_string(refined.method), form_.kind == Factorization::llh ? "IC" : "ILU",
               report.incomplete.levels, refined.backward_error, counted(refined.iterations, "iteration"));
}

// Computes the error bound in owned rows. It is infinite for a singular matrix, whose solutions are not
// unique.
template <class T> void Solver<T>::State::bound_forward_error(std::span<T const> b, std::span<T const> x) {
    if (options.condition)
        report.refine.forward_error = refiner_->verdict().singularity.lacks_unique_solutions
                                          ? std::numeric_limits<double>::infinity()
                                          : refiner_->forward_error(b, x, call_.columns, call_.op);
}

template <class T> double Solver<T>::State::reciprocal_condition(CscMatrix<T> const& matrix) {
    require("reciprocal_condition", {Need::all_eliminated, Need::complete});
    use_matrix(matrix, "reciprocal_condition");
    require_memory_of_condition();
    SingleThreadedBlas const blas;
    ConditionEstimate estimate = refiner_->reciprocal_condition();
    if (!estimate.is_sure && supernodal_ && supernodal_->has_avoidable_pivots()) {
        factorized_ = false;
        prepare_assembly(matrix);
        supernodal_->factorize_for(working_.of(matrix), "the condition number is");
        factorized_ = true;
        require_memory_of_condition();
        estimate = refiner_->reciprocal_condition();
    }
    take_condition(estimate);
    return report.factor.rcond;
}

template <class T> NullSpace<T> Solver<T>::State::null_space(CscMatrix<T> const& matrix) {
    require("null_space", {Need::all_eliminated, Need::complete});
    use_matrix(matrix, "null_space");
    double const tolerance = call_.tolerance_of_values;
    if (!(tolerance >= 0) || tolerance >= 1)
        throw Error(Status::usage,
                    fmt::format("a tolerance of {} for singular values is not in [0, 1)", tolerance));
    SingleThreadedBlas const blas;
    ProgressScope const phase(progress(), "null space", 0);
    Index const n = system_->order;
    NullSpaceOptions run;
    run.tolerance = tolerance;
    run.first_block = std::min<Index>(n, std::max<Index>(4, report.factor.pivots_replaced + 2));
    run.interrupt = context_.interrupt();
    run.max_bytes = require_memory_of(CallMemory(), "a null space");
    NullSpaceResult<T> found = refiner_->null_space(run);
    NullSpace<T> space{n - found.basis.cols, std::move(found.basis), std::move(found.singular_values)};
    if (vectors_->is_in_place()) return space;
    require_memory_of({space.basis.cols, 2 * space.basis.cols, 0, 0}, "the basis of the null space");
    std::vector<T> const own = std::exchange(space.basis.values, {});
    vectors_->set_callers_rows(context_.is_root() ? n : 0);
    context_.on_root([&] {
        space.basis.rows = n;
        space.basis.values.resize(n * space.basis.cols);
    });
    if (space.basis.cols > 0)
        vectors_->return_solutions(own, space.basis.values, space.basis.cols, MatrixOp::none);
    return space;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Solver<T>::State::solve_in_place(std::span<T>);                                            \
    template std::vector<T> Solver<T>::State::solve(std::span<T const>);                                     \
    template std::vector<T> Solver<T>::State::solve_rows(std::span<T const>, Index, MatrixOp);               \
    template DenseMatrix<T> Solver<T>::State::solve_sparse(CscMatrix<T> const&);                             \
    template RefineReport Solver<T>::State::refine(CscMatrix<T> const&, std::span<T const>, std::span<T>);   \
    template RefineReport Solver<T>::State::refine_rows(CscMatrix<T> const&, std::span<T const>,             \
                                                        std::span<T>, Index, MatrixOp);                      \
    template double Solver<T>::State::reciprocal_condition(CscMatrix<T> const&);                             \
    template NullSpace<T> Solver<T>::State::null_space(CscMatrix<T> const&);                                 \
    template void Solver<T>::State::expect_blocks(std::size_t, char const*);                                 \
    template void Solver<T>::State::report_solve(Timer const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
