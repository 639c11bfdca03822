// Solves behind espalier::Solver, in full precision or through factors in single, and refinement.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/timer.hpp"
#include "distributed/backward_error.hpp"
#include "kernels/single_threaded_blas.hpp"
#include "matrix/norms.hpp"
#include "refine/condition.hpp"
#include "refine/extra_precise.hpp"
#include "refine/refine.hpp"
#include "refine/singularity.hpp"
#include "runtime/process_limits.hpp"
#include "solve/solve.hpp"
#include "solve/solve_sparse.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> void Solver<T>::State::apply_factors(std::span<T> block, Index columns, MatrixOp op) {
    if (is_narrow_) return apply_narrow(block, columns, op);
    Index const n = analysis_->structure.n;
    ensemble_.template sweep<T>({block.data(), n, columns, std::max<Index>(1, n)}, SweepPart::whole, op);
}

// Through single precision, each column brought to order 1 by a power of two first: its range is small.
template <class T> void Solver<T>::State::apply_narrow(std::span<T> block, Index columns, MatrixOp op) {
    Index const n = analysis_->structure.n;
    std::vector<Low> low(block.size());
    std::vector<Real<T>> scale(columns, Real<T>(1));
    for (std::size_t j = 0; j < scale.size(); ++j) {
        auto const column = block.subspan(j * static_cast<std::size_t>(n), n);
        double const norm = infinity_norm<T>(std::span<T const>(column));
        if (norm > 0 && std::isfinite(norm))
            scale[j] = static_cast<Real<T>>(std::exp2(std::floor(std::log2(norm))));
        for (std::size_t i = 0; i < column.size(); ++i)
            low[j * column.size() + i] = static_cast<Low>(column[i] / scale[j]);
    }
    ensemble_.template sweep<Low>({low.data(), n, columns, std::max<Index>(1, n)}, SweepPart::whole, op);
    for (std::size_t k = 0; k < block.size(); ++k) block[k] = static_cast<T>(low[k]) * scale[k / n];
}

template <class T> void Solver<T>::State::apply_inverse(std::span<T> block, Index columns, MatrixOp op) {
    analysis_->system.to_working(block, columns, op);
    apply_factors(block, columns, op);
    analysis_->system.from_working(block, columns, op);
}

template <class T> ApplyInverse<T> Solver<T>::State::inverse_of_working() {
    return [this](std::span<T> block, Index columns, MatrixOp op) { apply_factors(block, columns, op); };
}

template <class T> ApplyInverse<T> Solver<T>::State::inverse_of_matrix() {
    return [this](std::span<T> block, Index columns, MatrixOp op) { apply_inverse(block, columns, op); };
}

template <class T> void Solver<T>::State::solve(std::span<T> x, Index nrhs, MatrixOp op) {
    require_no_schur("solve");
    require_block(x.size(), analysis_->structure.n, nrhs, "the right-hand side");
    Timer const timer;
    SingleThreadedBlas const blas;
    trace::Scope const recorded(phases(), trace::Kind::solve);
    apply_inverse(x, nrhs, op);
    report.solve_s = timer.seconds();
    report.nrhs = nrhs;
}

template <class T> DenseMatrix<T> Solver<T>::State::solve(CscMatrix<T> const& b, MatrixOp op) {
    require_no_schur("solve");
    Index const n = analysis_->structure.n;
    if (b.rows != n || b.symmetry != Symmetry::general)
        throw Error(Status::usage,
                    fmt::format("sparse right-hand sides have {} rows, stored in full; these have {}, {}", n,
                                b.rows, to_string(b.symmetry)));
    b.validate();
    Timer const timer;
    SingleThreadedBlas const blas;
    trace::Scope const recorded(phases(), trace::Kind::solve);
    DenseMatrix<T> x{n, b.cols, std::vector<T>(static_cast<std::size_t>(n * b.cols))};
    CscMatrix<T> const working = analysis_->system.to_working(b, op);
    if (is_narrow_ || !ensemble_.is_alone()) {
        for (Index j = 0; j < b.cols; ++j)
            for (Offset p = working.col_ptr[j]; p < working.col_ptr[j + 1]; ++p)
                x.column(j)[working.row_ind[p]] = working.values[p];
        apply_factors(x.values, b.cols, op);
    } else {
        espalier::solve_sparse<T>(ensemble_.template factor<T>(), analysis_->plan, working,
                                  {x.values.data(), n, b.cols, std::max<Index>(1, n)}, workers(),
                                  {op, interrupt_.get()});
    }
    analysis_->system.from_working(x.values, b.cols, op);
    report.solve_s = timer.seconds();
    report.nrhs = b.cols;
    return x;
}

template <class T> RefineReport Solver<T>::State::refine(CscMatrix<T> const& matrix, std::span<T const> b,
                                                         std::span<T> x, Index nrhs, MatrixOp op) {
    require_no_schur("refine");
    require_same_pattern(matrix, "refine");
    require_block(b.size(), analysis_->structure.n, nrhs, "the right-hand side");
    require_block(x.size(), analysis_->structure.n, nrhs, "the solution");
    SingleThreadedBlas const blas;
    trace::Scope const recorded(phases(), trace::Kind::refinement);
    trace::Scope const worked(options.record_trace ? workers().track(0) : nullptr, trace::Kind::refine);
    refine_once(matrix, b, x, nrhs, op);
    if (is_narrow_ && !report.refine.converged && options.refine != RefineMethod::none) {
        note(fmt::format(
            "refinement from single precision ended at a backward error of {:.1e}; factorizing in "
            "double",
            report.refine.backward_error));
        report.factor.precision_fell_back = true;
        factorized_ = false; // until there are factors again
        factorize_full(matrix, nullptr);
        report.factor.scalar = scalar_of<T>;
        factorized_ = true;
        std::vector<T> solved(b.begin(), b.end());
        apply_inverse(solved, nrhs, op);
        std::copy(solved.begin(), solved.end(), x.begin());
        refine_once(matrix, b, x, nrhs, op);
    }
    if (report.factor.numerically_singular) {
        report.refine.status = Status::singular;
        // Other solutions are as good and far away.
        if (options.condition) report.refine.forward_error = std::numeric_limits<double>::infinity();
    }
    report.peak_memory_bytes = peak_rss_bytes();
    return report.refine;
}

// Where a backward error at the level of rounding would leave hardly a correct digit, and the matrix is not
// singular. Returns the steps done.
template <class T> int Solver<T>::State::refine_precisely(CscMatrix<T> const& working, std::span<T const> b,
                                                          std::span<T> x, Index nrhs, MatrixOp op) {
    bool const wanted = options.refine == RefineMethod::automatic && options.max_refine_iterations == 0 &&
                        !near_singular_ && report.factor.pivots_replaced == 0 &&
                        report.factor.condition_estimate * static_cast<double>(epsilon<T>) > 1e-6;
    if (!wanted) return 0;
    return refine_extra_precisely<T>(working, b, x, nrhs, inverse_of_working(), op, interrupt_.get());
}

// A tiny pivot, replaced or not, is harmless until the solution is as large as only a singular matrix makes
// it.
template <class T> void Solver<T>::State::distrust_growth(CscMatrix<T> const& working, std::span<T const> b,
                                                          std::span<T const> x, Index nrhs) {
    if (!near_singular_ && report.factor.pivots_replaced == 0) return;
    if (grows_as_singular<T>(working, b, x, nrhs)) report.factor.numerically_singular = true;
}

template <class T> void Solver<T>::State::count_steps(int steps) {
    report.refine.iterations += steps;
    if (steps > 0 && report.refine.method == RefineMethod::none) report.refine.method = RefineMethod::ir;
}

template <class T> void Solver<T>::State::refine_once(CscMatrix<T> const& matrix, std::span<T const> b,
                                                      std::span<T> x, Index nrhs, MatrixOp op) {
    RefineOptions run;
    run.method = options.refine;
    run.max_iterations = options.max_refine_iterations;
    run.tolerance = options.tolerance;
    run.progress = options.progress;
    run.op = op;
    run.interrupt = interrupt_.get();
    if (!analysis_->system.is_identity()) return refine_scaled(matrix, b, x, nrhs, op, run);
    int const steps = refine_precisely(matrix, b, x, nrhs, op);
    run.forward_error = options.condition;
    report.refine = espalier::refine<T>(matrix, b, x, nrhs, inverse_of_working(), run);
    distrust_growth(matrix, b, x, nrhs);
    count_steps(steps);
}

// In the scaled system, where no equation drowns in the rounding of another; then judged in the caller's.
template <class T> void Solver<T>::State::refine_scaled(CscMatrix<T> const& matrix, std::span<T const> b,
                                                        std::span<T> x, Index nrhs, MatrixOp op,
                                                        RefineOptions const& run) {
    ScaledSystem<T> const& system = analysis_->system;
    Timer const timer;
    std::vector<T> working_b(b.begin(), b.end());
    system.to_working(working_b, nrhs, op);
    system.solution_to_working(x, nrhs, op);
    try {
        int const steps = refine_precisely(working_copy_, working_b, x, nrhs, op);
        report.refine = espalier::refine<T>(working_copy_, working_b, x, nrhs, inverse_of_working(), run);
        count_steps(steps);
    } catch (...) {
        system.from_working(x, nrhs, op); // x is the caller's
        throw;
    }
    distrust_growth(working_copy_, working_b, x, nrhs);
    system.from_working(x, nrhs, op);
    RefineReport& out = report.refine;
    out.backward_error = normwise_backward_error<T>(matrix, x, b, nrhs, op);
    // Scales of other values, which are kept by a refactorization, may see no error where the caller does.
    if (out.converged && !(out.backward_error <= tolerance()) && run.method != RefineMethod::none) {
        RefineReport const more = espalier::refine<T>(matrix, b, x, nrhs, inverse_of_matrix(), run);
        count_steps(more.iterations);
        out.backward_error = more.backward_error;
        std::vector<T> working_x(x.begin(), x.end());
        system.solution_to_working(working_x, nrhs, op);
        double const scaled_error = normwise_backward_error<T>(working_copy_, working_x, working_b, nrhs, op);
        out.history.push_back(scaled_error);
        out.converged = scaled_error <= tolerance();
    }
    out.componentwise_error = componentwise_backward_error<T>(matrix, x, b, nrhs, op);
    if (options.condition) {
        auto const bounds =
            forward_error_bounds<T>(matrix, b, x, nrhs, inverse_of_matrix(), op, interrupt_.get());
        out.forward_error = bounds.empty() ? 0.0 : *std::max_element(bounds.begin(), bounds.end());
    }
    out.converged = out.converged && out.backward_error <= tolerance();
    if (!out.converged) out.status = Status::inaccurate;
    out.time_s = timer.seconds();
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Solver<T>::State::solve(std::span<T>, Index, MatrixOp);                                    \
    template DenseMatrix<T> Solver<T>::State::solve(CscMatrix<T> const&, MatrixOp);                          \
    template RefineReport Solver<T>::State::refine(CscMatrix<T> const&, std::span<T const>, std::span<T>,    \
                                                   Index, MatrixOp);                                         \
    template void Solver<T>::State::apply_inverse(std::span<T>, Index, MatrixOp);                            \
    template ApplyInverse<T> Solver<T>::State::inverse_of_working();                                         \
    template ApplyInverse<T> Solver<T>::State::inverse_of_matrix();
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
