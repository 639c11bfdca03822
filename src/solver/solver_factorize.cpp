// Numeric factorization in espalier::Solver: chooses its kind and the scales for the values of a matrix. If
// factors fail or are poor, others follow:
//
//     without supernodes: another kind, pivots of a matching, or supernodes;
//     with supernodes: those of a new analysis, if the matching or the scales were made for other values,
//         then delayed columns, and then stricter pivots.
//
// SupernodalFactorization has the attempts with one analysis.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "analysis/choose.hpp"
#include "core/counted.hpp"
#include "core/timer.hpp"
#include "kernels/blas.hpp"
#include "options/report_table.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> void Solver<T>::State::factorize(CscMatrix<T> const& matrix) {
    if (!system_) analyze(matrix);
    Attempt last = attempt(matrix);
    if (system_->is_simplicial) {
        if (must_change(last)) return factorize_in_another_way(matrix, last);
        if (last.problem) throw *last.problem;
        return;
    }
    bool const is_poor = last.problem || report.factor.pivots_replaced > 2 * unavoidable_pivots_ ||
                         (refiner_->verdict().has_growth() && last.error > 100 * unavoidable_error_);
    bool const is_stale = context_.on_root(
        [&] { return is_poor && analysis_->has_stale_scaling(matrix, context_.interrupt()); });
    if (is_stale) {
        analyze_again(matrix);
        last = attempt(matrix);
        unavoidable_pivots_ = report.factor.pivots_replaced;
    }
    unavoidable_error_ = last.error;
    if (last.is_useless() && supernodal_ && supernodal_->can_avoid_growth()) {
        auto const reason = [&] {
            return last.problem ? last.problem->what() : inaccurate_factors(last.error, last.replaced);
        };
        if (!supernodal_->may_have_delayed()) last = attempt(matrix, {.why_delays = reason});
        // Entries may also grow with delayed columns, by up to 1 / u in each step. Other pivots do not help
        // if the matrix is singular.
        bool const has_grown =
            last.problem ? last.problem->status() == Status::inaccurate : last.is_useless();
        if (has_grown && options.pivot_tolerance < supernodal_->strictest_tolerance())
            last = attempt(matrix, {.why_delays = reason, .is_strict = true});
    }
    if (last.problem) throw *last.problem;
    if (last.is_useless())
        notes_.add_made_by([&] {
            return inaccurate_factors(last.error, last.replaced) +
                   "; matching on, or pivoting delayed without split 2d, may avoid this";
        });
}

// Factorizes with the current analysis. Returns errors that are due to pivots and throws the others.
template <class T> auto Solver<T>::State::attempt(CscMatrix<T> const& matrix, FactorDemand const& demand)
    -> Attempt {
    std::optional<Error> const problem = error_of([&] { factorize_values(matrix, demand); });
    if (!problem) return {{}, refiner_->verdict().errors.backward, report.factor.pivots_replaced};
    bool const is_wrong_kind =
        problem->status() == Status::not_positive_definite && system_->is_simplicial && system_->chooses;
    if (problem->status() != Status::singular && problem->status() != Status::inaccurate && !is_wrong_kind)
        throw *problem;
    return {problem, 0, 0};
}

// The options of the last analysis, with the functions of the current call.
template <class T> Options Solver<T>::State::options_of_analysis() const {
    Options same = analysis_ ? analysis_->options : Options();
    same.progress = options.progress;
    same.log = options.log;
    same.cancel = options.cancel;
    return same;
}

// Repeats the analysis if the matching was made for other values and leads to poor pivots.
template <class T> void Solver<T>::State::analyze_again(CscMatrix<T> const& matrix) {
    analyze(matrix, options_of_analysis());
    notes_.add("analyzed again: the matching or the scales of rows and columns were made for other values, "
               "and the pivots were too small");
    notes_.end_analysis();
}

// Whether the factorization without supernodes failed or is doubtful, so that another one has to follow.
template <class T> bool Solver<T>::State::must_change(Attempt const& attempt) const {
    bool const is_doubtful =
        attempt.problem || report.factor.pivots_replaced > 0 || refiner_->verdict().singularity.is_singular;
    return is_doubtful && (analysis_->options.supernodes == Toggle::automatic || simplicial_.is_ldl());
}

// Pivots of llh that are not positive need another kind of factors. If pivots of ldlt or ldlh that were
// planned without a matching are not stable, those of a matching may be.
template <class T>
void Solver<T>::State::factorize_in_another_way(CscMatrix<T> const& matrix, Attempt const& attempt) {
    if (attempt.problem && attempt.problem->status() == Status::not_positive_definite) {
        Options indefinite = options_of_analysis();
        // The next values of a complex symmetric matrix may not be real any more. ldlt fits them, too.
        indefinite.factorization =
            matrix.symmetry == Symmetry::symmetric ? Factorization::ldlt : indefinite_kind<T>;
        std::string const kind = to_string(indefinite.factorization);
        factorize_again(matrix, indefinite, fmt::format("{}: {}", kind, attempt.problem->what()));
        notes_.replace(analysis_->reason, fmt::format("auto chose {}: llh failed", kind));
        report.factor.fell_back = true;
        return;
    }
    Options matched = options_of_analysis();
    // A matching for the same values would plan the same pivots.
    bool const has_same = simplicial_.is_ldl() && analysis_->simplicial_ldl->is_matched &&
                          hash_of_values(matrix) == analysis_->values;
    if (simplicial_.is_ldl() && attempt.problem && matched.matching == Toggle::automatic && !has_same) {
        matched.matching = Toggle::on;
        return factorize_again(matrix, matched, "a matching: pivots planned without it are not stable");
    }
    bool const had_fill =
        !simplicial_.is_ldl() && attempt.problem && attempt.problem->status() == Status::inaccurate;
    factorize_by_supernodes(matrix, had_fill ? attempt.problem->what()
                                             : "pivots of the factorization without them were too small");
}

// The analysis with supernodes is able to tell a singular matrix from a difficult one, by matchings, better
// scales and inverse iteration.
template <class T>
void Solver<T>::State::factorize_by_supernodes(CscMatrix<T> const& matrix, char const* reason) {
    Options same = options_of_analysis();
    same.supernodes = Toggle::on;
    // Minimum degree has found few operations, so that a dissection would take longer than it saves.
    constexpr double few_operations = 1e8;
    if (analysis_->simplicial_lu && analysis_->simplicial_lu->flops < few_operations &&
        same.ordering == OrderingMethod::automatic)
        same.ordering = OrderingMethod::amd;
    factorize_again(matrix, same, fmt::format("supernodes: {}", reason));
}

template <class T> void Solver<T>::State::factorize_again(CscMatrix<T> const& matrix, Options const& with,
                                                          std::string const& what_and_why) {
    analyze(matrix, with);
    notes_.add("analyzed again with {}", what_and_why);
    notes_.end_analysis();
    factorize(matrix);
}

// New complex values may be real, or not real any more. Then ldlt and ldlh are chosen anew. Error{usage} if
// the values do not fit the requested kind.
template <class T> void Solver<T>::State::choose_simplicial_kind(CscMatrix<T> const& matrix) {
    if (!is_complex<T> || !simplicial_.is_ldl()) return;
    bool const is_real = std::ranges::all_of(matrix.values, [](T value) { return imag_part(value) == 0; });
    bool const conjugates = analysis_->form.conjugate();
    if (analysis_->form.kind == Factorization::llh) {
        if (is_real || matrix.symmetry == Symmetry::hermitian) return;
        FactorizationChoice const choice =
            analysis_->choose_kind(matrix); // Error{usage} if llh was requested
        throw Error(Status::not_positive_definite, choice.reason);
    }
    bool const fits =
        is_real ? conjugates || !system_->chooses : conjugates == (matrix.symmetry == Symmetry::hermitian);
    if (fits) return;
    FactorizationChoice const choice = analysis_->choose_kind(matrix);
    bool const is_hermitian = choice.kind == Factorization::ldlh || choice.kind == Factorization::llh;
    analysis_->form.kind = is_hermitian ? Factorization::ldlh : Factorization::ldlt;
    notes_.replace(analysis_->reason,
                   choice.kind == analysis_->form.kind ? choice.reason : "auto chose ldlh: Hermitian");
    simplicial_.ldl().set_kind(analysis_->form.kind);
}

template <class T> void Solver<T>::State::drop_reports_on_factors() {
    report.factor = {};
    report.refine = {};
    notes_.drop_after_analysis();
}

// Allocates nothing if the pivots of the last factorization are reused.
template <class T> void Solver<T>::State::factorize_simplicial(CscMatrix<T> const& matrix) {
    ProgressScope const phase(progress(), "factorization", 0);
    Timer const timer;
    simplicial_.check(matrix);
    require_memory(report.analysis.memory_bytes, options.max_memory);
    context_.interrupt()->check();
    drop_reports_on_factors();
    choose_simplicial_kind(matrix);
    form_ = analysis_->form;
    report.factorization = form_.kind;
    compute_simplicial(matrix);
    refiner_->examine(simplicial_.smallest_pivot(), report.factor.pivots_replaced, matrix);
    report_singularity<T>(refiner_->verdict().singularity, system_->kept, report.factor, notes_);
    report.factor.total_s = timer.seconds();
    report.factor.assembly_s = report.factor.total_s - report.factor.time_s;
    if (options.condition) {
        refiner_->set_matrix(matrix);
        estimate_condition();
    }
    factorized_ = true;
    // Reading the peak is a system call, which would take a large part of a fast refactorization.
    if (!report.factor.pivots_reused) report.peak_memory_bytes = peak_memory();
}

// Computes the numbers of a factorization without supernodes, and reports them.
template <class T> void Solver<T>::State::compute_simplicial(CscMatrix<T> const& matrix) {
    FactorReport& out = report.factor;
    Timer const timer;
    // Factors with delayed columns need no refinement, with or without supernodes.
    SimplicialLimits limits{.bytes = options.max_memory};
    if (options.pivoting == Pivoting::delayed) limits.growth = 1 / options.pivot_tolerance;
    if (analysis_->simplicial_lu && analysis_->options.supernodes == Toggle::automatic)
        limits.entries = most_entries(*analysis_->simplicial_lu);
    out.pivots_reused = simplicial_.factorize(matrix, options.pivot_threshold, limits);
    out.time_s = timer.seconds();
    out.scalar = scalar_of<T>;
    out.gflops = out.time_s > 0 ? report.analysis.flops / out.time_s / 1e9 : 0;
    if (form_.has_d() && simplicial_.ldl().has_signs())
        out.negative_pivots = simplicial_.ldl().inertia().negative;
    out.pivots_replaced = simplicial_.pivots_replaced();
    if (out.pivots_replaced == 0) return;
    require_no_zero_row(matrix, {});
    notes_.add("{} too small and replaced", counted(out.pivots_replaced, "pivot was", "pivots were"));
}

template <class T>
void Solver<T>::State::factorize_values(CscMatrix<T> const& matrix, FactorDemand const& demand) {
    factorized_ = false; // also if the matrix is refused
    if (system_->is_simplicial) return factorize_simplicial(matrix);
    Timer const timer;
    SingleThreadedBlas const blas;
    check_values(matrix);
    drop_reports_on_factors();
    choose_system(matrix);
    if (system_->is_incomplete)
        factorize_incomplete(matrix);
    else
        factorize_with_supernodes(matrix, demand);
    context_.sample_memory();
    if (!system_->is_incomplete && system_->kept == 0) {
        factor_.prepare_solve();
        refiner_->prepare_residuals();
    }
    // Assembly time is everything except the numeric factorization: checks, allocation, the entries, and with
    // several processes the assembly map.
    report.factor.total_s = timer.seconds();
    report.factor.assembly_s = report.factor.total_s - report.factor.time_s;
    if (options.condition && system_->kept == 0) estimate_condition();
    factorized_ = true;
    report.peak_memory_bytes = context_.on_all([&] { return peak_memory(); });
}

template <class T> void Solver<T>::State::check_values(CscMatrix<T> const& matrix) {
    context_.on_root([&] {
        require_square(matrix);
        bool const is_last = pattern_.matches(matrix, context_.threads());
        if (!is_last && !analysis_->pattern.matches(matrix, context_.threads())) refuse_other_pattern();
        require_valid_values(matrix, context_.threads());
        if (!is_last) {
            pattern_ = analysis_->pattern;
            factor_.drop_assembly();
            working_.clear();
        }
        if (!system_->allow_singular)
            require_no_zero_row(matrix, analysis_->options.schur, context_.threads());
        bool const narrow = analysis_->factors_narrow(options.mixed_precision);
        auto const needs = system_->is_incomplete
                               ? memory_needs()
                               : analysis_->memory_of_processes(narrow ? scalar_of<Low> : scalar_of<T>);
        require_memory(context_.largest_sum_of_a_computer(needs), options.max_memory);
        context_.interrupt()->check();
    });
}

// On process 0. An incomplete factor keeps the pattern of its working system, in which lu of a triangle
// stores both triangles, with scales and a permutation of its own.
template <class T> FactorizationChoice Solver<T>::State::choice_for(CscMatrix<T> const& matrix) const {
    FactorizationChoice choice = analysis_->choose_kind(matrix);
    if (system_->is_incomplete && analysis_->system.expands() && choice.kind != Factorization::lu)
        return {Factorization::lu, "auto keeps lu: the analyzed matrix was not positive definite"};
    if (analysis_->llh_failed && choice.kind == Factorization::llh)
        return {indefinite_kind<T>, fmt::format("auto keeps {}: earlier values were not positive definite",
                                                to_string(indefinite_kind<T>))};
    return choice;
}

// New values may be real, or gain or lose a positive diagonal.
template <class T> void Solver<T>::State::choose_system(CscMatrix<T> const& matrix) {
    context_.on_root([&] {
        FactorizationChoice const choice = choice_for(matrix);
        bool const was_llh = analysis_->form.kind == Factorization::llh;
        if (!system_->is_incomplete && was_llh && choice.kind != Factorization::llh)
            scale_for(choice.kind, matrix);
        analysis_->form.kind = choice.kind;
        notes_.replace(analysis_->reason, choice.reason);
    });
    make_working(matrix);
    if (!system_->is_incomplete) prepare_assembly(matrix);
}

template <class T> void Solver<T>::State::prepare_assembly(CscMatrix<T> const& matrix) {
    if (factor_.has_assembly()) return;
    trace::Scope const recorded(context_.phases(), trace::Kind::assembly);
    factor_.set_assembly(working_.of(matrix));
}

// On process 0: scales the system, unless the factorization is Cholesky, which needs no scales.
template <class T> void Solver<T>::State::scale_for(Factorization kind, CscMatrix<T> const& matrix) {
    analysis_->system = ScaledSystem<T>(matrix, analysis_->working_options(kind, context_.interrupt()));
    analysis_->form.kind = kind;
    working_.clear();
    vectors_->invalidate_system();
    report.analysis.scaled = analysis_->system.is_scaled();
    report.analysis.structural_rank = analysis_->system.structural_rank();
}

// Sets the working system: on process 0 the matrix itself or a copy, and on all processes their part for
// refinement.
template <class T> void Solver<T>::State::make_working(CscMatrix<T> const& matrix) {
    form_ = context_.on_root([&] {
        if (working_.set_and_rescale(matrix, analysis_->system, analysis_->options.schur,
                                     context_.threads())) {
            vectors_->invalidate_system();
            report.analysis.scaled = true;
        }
        report.factorization = analysis_->form.kind;
        return analysis_->form;
    });
    vectors_->set_system(analysis_ ? analysis_->system : no_scaling<T>);
    refiner_->set_matrix(working_.of(matrix));
}

// If Cholesky was chosen automatically and fails, ldlt or ldlh follows, also for later values.
template <class T>
void Solver<T>::State::factorize_with_supernodes(CscMatrix<T> const& matrix, FactorDemand const& demand) {
    try {
        supernodal_->factorize(working_.of(matrix), form_, demand);
    } catch (Error const& error) {
        if (error.status() != Status::not_positive_definite || !system_->chooses) throw;
        notes_.add("{}; continuing with {}", error.what(), to_string(indefinite_kind<T>));
        context_.on_root([&] {
            analysis_->llh_failed = true;
            scale_for(indefinite_kind<T>, matrix);
        });
        make_working(matrix);
        supernodal_->factorize(working_.of(matrix), form_, {.in_full = true});
        report.factor.fell_back = true;
    }
}

template <class T> void Solver<T>::State::estimate_condition() {
    require_memory_of_condition();
    take_condition(refiner_->reciprocal_condition());
}

template <class T> void Solver<T>::State::take_condition(ConditionEstimate const& estimate) {
    report.factor.rcond = estimate.rcond;
    if (!estimate.is_sure)
        notes_.add(
            "the estimated reciprocal condition number may be too large: products with the inverse are "
            "inaccurate");
}

template <class T> void Solver<T>::State::factorize_incomplete(CscMatrix<T> const& matrix) {
    ProgressScope const phase(progress(), "factorization", 0);
    trace::Scope const recorded(context_.phases(), trace::Kind::factorization);
    PivotDemand const pivots = context_.on_root([&] {
        // 0 would stand for the default
        constexpr double least = std::numeric_limits<Real<T>>::min() / epsilon<T>;
        bool const is_default = options.pivot_threshold < 0;
        return PivotDemand{form_.kind == Factorization::llh,
                           is_default ? 0 : std::max(options.pivot_threshold, least)};
    });
    IncompletePivots const found = incomplete_.factorize(working_.of(matrix), pivots);
    Index const replaced = found.replaced;
    incomplete_.fill(report.incomplete);
    report = context_.on_root([&] { // later decisions depend on the report
        FactorReport& out = report.factor;
        out.time_s = report.incomplete.factor_s;
        out.tasks = report.incomplete.tasks_coarse;
        out.scalar = scalar_of<T>;
        out.pivots_replaced = replaced;
        if (found.shift > 0)
            notes_.add(
                "the incomplete factors are those of A + {} diag(A), after {}: pivots of A were too small{}",
                found.shift, counted(found.restarts, "restart"), pivots.positive ? " or not positive" : "");
        if (replaced > 0)
            notes_.add("{} too small{} for the incomplete factorization and {} replaced",
                       counted(replaced, "pivot was", "pivots were"),
                       pivots.positive ? " or not positive" : "", noun_for(replaced, "was", "were"));
        return report;
    });
    refiner_->forget_factors(replaced + (found.shift > 0 ? 1 : 0));
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Solver<T>::State::factorize(CscMatrix<T> const&);                                          \
    template void Solver<T>::State::factorize_with_supernodes(CscMatrix<T> const&, FactorDemand const&);     \
    template void Solver<T>::State::prepare_assembly(CscMatrix<T> const&);                                   \
    template void Solver<T>::State::estimate_condition();                                                    \
    template void Solver<T>::State::take_condition(ConditionEstimate const&);                                \
    template void Solver<T>::State::factorize_by_supernodes(CscMatrix<T> const&, char const*);               \
    template Options Solver<T>::State::options_of_analysis() const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
