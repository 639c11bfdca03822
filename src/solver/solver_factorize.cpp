// Numeric factorization behind espalier::Solver: which factorization of which values in which precision, what
// is tried next when it fails, and whether the matrix looks singular afterwards.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/timer.hpp"
#include "factor/factorize.hpp"
#include "factor/pivots.hpp"
#include "kernels/single_threaded_blas.hpp"
#include "matrix/convert.hpp"
#include "matrix/norms.hpp"
#include "refine/condition.hpp"
#include "refine/singularity.hpp"
#include "runtime/process_limits.hpp"
#include "solve/solve.hpp"
#include "solver/choose.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> void Solver<T>::State::factorize(CscMatrix<T> const& matrix) {
    if (!analysis_) analyze(matrix);
    Timer const timer;
    require_square(matrix);
    if (!(PatternFingerprint(matrix) == analysis_->pattern))
        throw Error(
            Status::usage,
            "the matrix to factorize has another pattern than the one that was analyzed; call analyze again");
    matrix.validate();
    if (!analysis_->options.allow_singular) require_no_zero_row(matrix);
    require_memory(analysis_->memory_bytes(wants_narrow() ? scalar_of<Low> : scalar_of<T>),
                   options.max_memory);
    interrupt_->check();
    factorized_ = near_singular_ = false;
    report.factor = {};
    report.refine = {};
    report.notes.resize(std::min(report.notes.size(), notes_of_analysis_));
    SingleThreadedBlas const blas;
    factorize_from(matrix);
    sample_memory();
    // What is not numeric factorization is assembly: checks of the values, the map, memory, the entries.
    report.factor.assembly_s = timer.seconds() - report.factor.time_s;
    report.factorization = analysis_->form.kind;
    report.factor.scalar = is_narrow_ ? scalar_of<Low> : scalar_of<T>;
    if (options.condition && analysis_->options.schur.empty())
        report.factor.rcond =
            espalier::reciprocal_condition<T>(matrix, inverse_of_matrix(), interrupt_.get());
    factorized_ = true;
    report.peak_memory_bytes = peak_rss_bytes();
}

template <class T> void Solver<T>::State::factorize_from(CscMatrix<T> const& matrix) {
    // New values may be real where they were complex, or lose a positive diagonal; lu stays lu.
    Factorization const kind = choose_for(matrix, analysis_->options).kind;
    if (analysis_->form.kind == Factorization::llh && kind != Factorization::llh) make_system(matrix, kind);
    analysis_->form.kind = kind;
    CscMatrix<T> const& working = make_working(matrix);
    if (!ensemble_.has_assembly()) {
        trace::Scope const recorded(phases(), trace::Kind::assembly);
        ensemble_.share_assembly(AssemblyMap(working, analysis_->structure, interrupt_.get()));
    }
    if (wants_narrow() && factorize_narrow(working)) return;
    factorize_full(matrix, &working);
}

// Pivoting wants scales, Cholesky did not.
template <class T> void Solver<T>::State::make_system(CscMatrix<T> const& matrix, Factorization kind) {
    analysis_->system = ScaledSystem<T>(matrix, analysis_->working_options(kind, interrupt_.get()));
    analysis_->form.kind = kind;
    report.analysis.scaled = analysis_->system.is_scaled();
    report.analysis.structural_rank = analysis_->system.structural_rank();
}

template <class T> bool Solver<T>::State::wants_narrow() const {
    return options.mixed_precision && can_narrow && analysis_->options.schur.empty();
}

// In single precision; false, with the reason in a note, when that is not good enough to refine from.
template <class T> bool Solver<T>::State::factorize_narrow(CscMatrix<T> const& working) {
    std::string reason;
    try {
        CscMatrix<Low> const low = convert<Low>(working);
        factorize_numbers<Low>(low);
        if (!analysis_->options.allow_singular && is_suspicious<Low>(low))
            reason = "pivots are too small for it";
    } catch (Error const& error) {
        if (error.status() == Status::cancelled || error.status() == Status::out_of_memory) throw;
        reason = error.what();
    }
    is_narrow_ = reason.empty();
    if (is_narrow_) return true;
    report.factor = {};
    report.factor.precision_fell_back = true;
    note(fmt::format("single precision does not do ({}); factorizing in double", reason));
    return false;
}

// `working` may be null: then it is made.
template <class T>
void Solver<T>::State::factorize_full(CscMatrix<T> const& matrix, CscMatrix<T> const* working) {
    is_narrow_ = false;
    if (report.factor.precision_fell_back)
        require_memory(analysis_->memory_bytes(scalar_of<T>), options.max_memory);
    if (!working) working = &make_working(matrix);
    try {
        factorize_numbers<T>(*working);
    } catch (Error const& error) {
        bool const may_fall_back = error.status() == Status::not_positive_definite &&
                                   analysis_->options.factorization == Factorization::automatic;
        if (!may_fall_back) throw;
        note(fmt::format("{}; going on with ldlh", error.what()));
        make_system(matrix, Factorization::ldlh);
        working = &make_working(matrix);
        factorize_numbers<T>(*working);
        report.factor.fell_back = true;
    }
    look_for_singularity(*working);
}

template <class T> template <class F> void Solver<T>::State::factorize_numbers(CscMatrix<F> const& working) {
    double const relative =
        options.pivot_threshold >= 0 ? options.pivot_threshold : std::sqrt(static_cast<double>(epsilon<F>));
    double const largest = max_abs(working);
    FactorizeOptions run;
    run.pivot_threshold = relative * (largest > 0 ? largest : 1.0);
    run.progress = options.progress;
    run.interrupt = interrupt_.get();
    run.phases = phases();
    FactorReport& out = report.factor;
    double const before = out.time_s; // of an attempt that did not do
    add_up(ensemble_.template factorize<F>(working.values, analysis_->form, options.allocation, run),
           report.threads, out);
    double const time_s = out.time_s - before;
    out.gflops = time_s > 0 ? report.analysis.flops / time_s / 1e9 : 0;
    out.tasks = analysis_->plan.tasks;
    if (out.pivots_replaced > 0)
        note(fmt::format("{} pivot{} smaller than {:.1e} {} replaced", out.pivots_replaced,
                         out.pivots_replaced == 1 ? "" : "s", run.pivot_threshold,
                         out.pivots_replaced == 1 ? "was" : "were"));
}

// The system to factorize: the caller's matrix, or a copy that is kept for refinement.
template <class T> CscMatrix<T> const& Solver<T>::State::make_working(CscMatrix<T> const& matrix) {
    working_copy_ = analysis_->system.is_identity() ? CscMatrix<T>() : analysis_->system.apply(matrix);
    if (analysis_->options.schur.empty()) analysis_->system.rescale(working_copy_);
    return analysis_->system.is_identity() ? matrix : working_copy_;
}

template <class T> template <class F> bool Solver<T>::State::is_suspicious(CscMatrix<F> const& working) {
    double const small = 0.01 * std::sqrt(static_cast<double>(epsilon<F>));
    if (report.factor.pivots_replaced > 0) return true;
    Pivots<F> const pivots = ensemble_.template pivots<F>();
    BlockStructure const& structure = analysis_->structure;
    auto const rows = std::span<Index const>(structure.inverse).first(structure.first_kept_col());
    return smallest_relative_pivot<F, F>(working, pivots.form, pivots.diagonal, pivots.off_diagonal, rows) <=
           small;
}

// Costs four solves, and only where a pivot is suspiciously small.
template <class T> void Solver<T>::State::look_for_singularity(CscMatrix<T> const& working) {
    near_singular_ = report.factor.numerically_singular = false; // whatever single precision made of it
    report.factor.condition_estimate = 0;
    if (!is_suspicious<T>(working)) return;
    if (analysis_->options.schur.empty())
        look_for_singularity(working, inverse_of_working());
    else
        look_for_singularity(interior_block(working, analysis_->options.schur), inverse_of_interior());
}

template <class T> void Solver<T>::State::look_for_singularity(CscMatrix<T> const& block,
                                                               ApplyInverse<T> const& inverse_of_block) {
    FactorReport& out = report.factor;
    WeakestDirection const weakest = weakest_direction<T>(block, inverse_of_block);
    out.condition_estimate =
        1 / std::max(weakest.distance, static_cast<double>(epsilon<T>)); // rounding hides more
    near_singular_ = weakest.is_singular<T>();
    if (!near_singular_ && out.pivots_replaced > 0 &&
        probe_grows_as_singular<T>(block, inverse_of_block, interrupt_.get())) {
        near_singular_ = true;
        out.condition_estimate = 1 / static_cast<double>(epsilon<T>);
    }
    out.numerically_singular = near_singular_ && out.pivots_replaced > 0;
    char const* const what = analysis_->options.schur.empty() ? "matrix" : "interior block of the matrix";
    if (near_singular_)
        note(fmt::format(
            "the {} is singular to working precision (componentwise condition number {:.0e} or more)", what,
            out.condition_estimate));
    else if (out.condition_estimate * static_cast<double>(epsilon<T>) > 1e-6)
        note(fmt::format("the {} is ill-conditioned: its componentwise condition number is about {:.0e}",
                         what, out.condition_estimate));
}

// Of A_ii alone: what condense() and expand() do while the unknowns of the Schur complement are zero.
template <class T> ApplyInverse<T> Solver<T>::State::inverse_of_interior() {
    auto const n = static_cast<std::size_t>(analysis_->structure.n);
    std::vector<bool> kept(n, false);
    for (Index const i : analysis_->options.schur) kept[i] = true;
    std::vector<std::size_t> interior;
    for (std::size_t i = 0; i < n; ++i)
        if (!kept[i]) interior.push_back(i);
    return [this, n, interior](std::span<T> block, Index columns, MatrixOp op) {
        std::vector<T> whole(n * static_cast<std::size_t>(columns), T(0));
        auto const at = [&](std::size_t k) -> T& {
            return whole[k / interior.size() * n + interior[k % interior.size()]];
        };
        MatrixView<T> const view{whole.data(), static_cast<Index>(n), columns, static_cast<Index>(n)};
        for (std::size_t k = 0; k < block.size(); ++k) at(k) = block[k];
        ensemble_.template sweep<T>(view, SweepPart::forward, op);
        for (Index j = 0; j < columns; ++j)
            for (Index const i : analysis_->options.schur) whole[j * n + static_cast<std::size_t>(i)] = T(0);
        ensemble_.template sweep<T>(view, SweepPart::backward, op);
        for (std::size_t k = 0; k < block.size(); ++k) block[k] = at(k);
    };
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Solver<T>::State::factorize(CscMatrix<T> const&);                                          \
    template void Solver<T>::State::factorize_full(CscMatrix<T> const&, CscMatrix<T> const*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
