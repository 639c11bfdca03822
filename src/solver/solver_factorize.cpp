// Numeric factorization in espalier::Solver: chooses the factorization, the precision and the scaling for the
// values of a matrix, falls back if an attempt fails, and tests for singularity.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "analysis/choose.hpp"
#include "core/timer.hpp"
#include "kernels/blas.hpp"
#include "matrix/convert.hpp"
#include "matrix/norms.hpp"
#include "options/report_table.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

namespace {

std::string replaced_pivots(Index count) {
    return fmt::format("{} pivot{} replaced", count, count == 1 ? " was" : "s were");
}

std::string inaccurate_factors(double error, Index replaced) {
    return fmt::format("the factors are inaccurate, because {} (backward error {:.1e})",
                       replaced > 0 ? replaced_pivots(replaced) : "entries grew in the elimination", error);
}

/// With the last shift, 524, nearly all matrices are diagonally dominant.
constexpr int most_restarts = 20;

} // namespace

template <class T> void Solver<T>::State::factorize(CscMatrix<T> const& matrix) {
    if (!system_) analyze(matrix);
    Attempt last = attempt(matrix);
    if (system_->is_simplicial) {
        if (must_change(last)) return factorize_in_another_way(matrix, last);
        if (last.problem) throw *last.problem;
        return;
    }
    bool const is_poor = last.problem || report.factor.pivots_replaced > 2 * unavoidable_pivots_ ||
                         (refiner_->has_growth() && last.error > 100 * unavoidable_error_);
    bool const is_stale = context_.on_root(
        [&] { return is_poor && analysis_->has_stale_scaling(matrix, context_.interrupt()); });
    if (is_stale) {
        analyze_again(matrix);
        last = attempt(matrix);
        unavoidable_pivots_ = report.factor.pivots_replaced;
    }
    unavoidable_error_ = last.error;
    if (last.is_useless() && may_grow() && can_delay()) {
        auto const reason = [&] {
            return last.problem ? last.problem->what() : inaccurate_factors(last.error, last.replaced);
        };
        if (!may_have_delayed_) last = attempt(matrix, {reason});
        // Entries may also grow with delayed columns, by up to 1 / u in each step. Other pivots do not help
        // if the matrix is singular.
        bool const has_grown =
            last.problem ? last.problem->status() == Status::inaccurate : last.is_useless();
        if (has_grown && options.pivot_tolerance < strictest_tolerance())
            last = attempt(matrix, {reason, true});
    }
    if (last.problem) throw *last.problem;
    if (last.is_useless())
        note_made_by([&] {
            return inaccurate_factors(last.error, last.replaced) +
                   "; matching on, or pivoting delayed without split 2d, may avoid this";
        });
}

// Factorizes with the current analysis. Returns errors that are due to pivots and throws the others.
template <class T> auto Solver<T>::State::attempt(CscMatrix<T> const& matrix, Delay const& delay) -> Attempt {
    std::optional<Error> const problem = error_of([&] { factorize_values(matrix, delay); });
    if (!problem) return {{}, refiner_->errors_of_factors().backward, report.factor.pivots_replaced};
    bool const is_wrong_kind =
        problem->status() == Status::not_positive_definite && system_->is_simplicial && system_->chooses;
    if (problem->status() != Status::singular && problem->status() != Status::inaccurate && !is_wrong_kind)
        throw *problem;
    return {problem, 0, 0};
}

// Whether entries may grow without bound in the elimination.
template <class T> bool Solver<T>::State::may_grow() const {
    return !system_->is_incomplete && !system_->is_simplicial && system_->kept == 0 &&
           (form_.has_d() || form_.has_upper());
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
    note("analyzed again: the matching or the scales of rows and columns were made for other values, and the "
         "pivots were too small");
    notes_of_analysis_ = report.notes.size();
}

// Whether the factorization without supernodes failed or is doubtful, so that another one has to follow.
template <class T> bool Solver<T>::State::must_change(Attempt const& attempt) const {
    bool const is_doubtful =
        attempt.problem || report.factor.pivots_replaced > 0 || refiner_->singularity().is_near;
    return is_doubtful && (analysis_->options.supernodes == Toggle::automatic || simplicial_.is_ldl());
}

// Pivots of llh that are not positive need another kind of factors. If pivots of ldlt or ldlh that were
// planned without a matching are not stable, those of a matching may be.
template <class T>
void Solver<T>::State::factorize_in_another_way(CscMatrix<T> const& matrix, Attempt const& attempt) {
    if (attempt.problem && attempt.problem->status() == Status::not_positive_definite) {
        Options indefinite = options_of_analysis();
        bool const is_hermitian = !is_complex<T> || matrix.symmetry == Symmetry::hermitian;
        indefinite.factorization = is_hermitian ? Factorization::ldlh : Factorization::ldlt;
        std::string const kind = to_string(indefinite.factorization);
        factorize_again(matrix, indefinite, fmt::format("{}: {}", kind, attempt.problem->what()));
        replace_note_on_choice(fmt::format("auto chose {}: llh failed", kind));
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
    factorize_again(matrix, same, fmt::format("supernodes: {}", reason));
}

template <class T> void Solver<T>::State::factorize_again(CscMatrix<T> const& matrix, Options const& with,
                                                          std::string const& what_and_why) {
    analyze(matrix, with);
    note("analyzed again with {}", what_and_why);
    notes_of_analysis_ = report.notes.size();
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
    replace_note_on_choice(choice.kind == analysis_->form.kind ? choice.reason
                                                               : "auto chose ldlh: Hermitian");
    simplicial_.ldl().set_kind(analysis_->form.kind);
}

template <class T> void Solver<T>::State::drop_reports_on_factors() {
    report.factor = {};
    report.refine = {};
    report.notes.resize(std::min(report.notes.size(), notes_of_analysis_));
    notes_on_factors_.clear();
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
    Timer const numeric;
    // Factors with delayed columns need no refinement, with or without supernodes.
    SimplicialLimits limits{.bytes = options.max_memory};
    if (options.pivoting == Pivoting::delayed) limits.growth = 1 / options.pivot_tolerance;
    if (analysis_->simplicial_lu && analysis_->options.supernodes == Toggle::automatic)
        limits.entries = most_entries(*analysis_->simplicial_lu);
    report.factor.pivots_reused = simplicial_.factorize(matrix, options.pivot_threshold, limits);
    report.factor.time_s = numeric.seconds();
    report.factor.scalar = scalar_of<T>;
    report.factor.gflops = report.factor.time_s > 0 ? report.analysis.flops / report.factor.time_s / 1e9 : 0;
    if (form_.has_d() && simplicial_.ldl().has_signs())
        report.factor.negative_pivots = simplicial_.ldl().inertia().negative;
    Index const replaced = report.factor.pivots_replaced = simplicial_.pivots_replaced();
    if (replaced > 0) {
        require_no_zero_row(matrix, {});
        note("{} pivots were too small and replaced", replaced);
    }
    refiner_->examine(simplicial_.smallest_pivot(), replaced, matrix);
    report_singularity();
    report.factor.total_s = timer.seconds();
    report.factor.assembly_s = report.factor.total_s - report.factor.time_s;
    if (options.condition) {
        require_memory_of_condition();
        refiner_->set_matrix(matrix);
        take_condition(refiner_->reciprocal_condition());
    }
    factorized_ = true;
    // Reading the peak is a system call, which would take a large part of a fast refactorization.
    if (!report.factor.pivots_reused) report.peak_memory_bytes = peak_memory();
}

template <class T> void Solver<T>::State::factorize_values(CscMatrix<T> const& matrix, Delay const& delay) {
    factorized_ = false; // also if the matrix is refused
    if (system_->is_simplicial) return factorize_simplicial(matrix);
    Timer const timer;
    SingleThreadedBlas const blas;
    check_values(matrix);
    drop_reports_on_factors();
    choose_system(matrix);
    if (system_->is_incomplete) {
        factorize_incomplete(matrix);
    } else if (delay.reason) {
        factorize_full(matrix, delay);
    } else if (!factorize_narrow(matrix)) {
        Delay unknown;
        if (needs_pivots()) // after an attempt in single precision
            unknown = {[] { return "inertia and determinant are not known from single precision"; }};
        bool const fell_back = report.factor.precision_fell_back;
        report.factor = {};
        report.factor.precision_fell_back = fell_back;
        factorize_full(matrix, unknown);
    }
    context_.sample_memory();
    if (!system_->is_incomplete && system_->kept == 0) {
        factor_.prepare_solve();
        refiner_->prepare_residuals();
    }
    // Assembly time is everything except the numeric factorization: checks, allocation, the entries, and with
    // several processes the assembly map.
    report.factor.total_s = timer.seconds();
    report.factor.assembly_s = report.factor.total_s - report.factor.time_s;
    if (options.condition && system_->kept == 0) {
        require_memory_of_condition();
        take_condition(refiner_->reciprocal_condition());
    }
    factorized_ = true;
    report.peak_memory_bytes = context_.on_all([&] { return peak_memory(); });
}

template <class T> void Solver<T>::State::check_values(CscMatrix<T> const& matrix) {
    context_.on_root([&] {
        require_square(matrix);
        bool const is_last = pattern_.matches(matrix, context_.threads());
        if (!is_last && !analysis_->pattern.matches(matrix, context_.threads()))
            throw Error(Status::usage, "the pattern of the matrix differs from the one that was "
                                       "analyzed; call analyze again");
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
        replace_note_on_choice(choice.reason);
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

// Factorizes in lower precision if the options say so. Returns false, with the reason in a note, if the
// factors are not accurate enough for refinement.
template <class T> bool Solver<T>::State::factorize_narrow(CscMatrix<T> const& matrix) {
    if (!context_.on_root([&] { return analysis_->factors_narrow(options.mixed_precision); })) return false;
    std::string reason;
    try {
        factorize_numbers(matrix, true, usual_pivots());
        if (needs_pivots() || (!system_->allow_singular &&
                               refiner_->is_suspicious(factor_, report.factor.pivots_replaced,
                                                       static_cast<double>(epsilon<Low>), may_grow())))
            context_.on_all([&] { reason = "pivots are too small for it"; });
    } catch (Error const& error) {
        if (error.status() == Status::cancelled || error.status() == Status::out_of_memory) throw;
        context_.on_all([&] { reason = error.what(); });
    }
    if (reason.empty()) {
        refiner_->accept(report.factor.pivots_replaced);
        return true;
    }
    report.factor.precision_fell_back = true;
    note("single precision is not accurate enough ({}); factorizing in double", reason);
    return false;
}

template <class T> void Solver<T>::State::factorize_full(CscMatrix<T> const& matrix, Delay const& delay) {
    if (report.factor.precision_fell_back)
        context_.on_root([&] {
            require_memory(context_.largest_sum_of_a_computer(analysis_->memory_of_processes(scalar_of<T>)),
                           options.max_memory);
        });
    try {
        if (delay.reason) return factorize_delayed(matrix, delay);
        factorize_numbers(matrix, false, usual_pivots());
    } catch (Error const& error) {
        if (error.status() != Status::not_positive_definite || !system_->chooses) throw;
        note("{}; continuing with ldlh", error.what());
        context_.on_root([&] { scale_for(Factorization::ldlh, matrix); });
        make_working(matrix);
        factorize_numbers(matrix, false, usual_pivots());
        report.factor.fell_back = true;
    }
    examine_factors(matrix);
    keep_small_pivots(matrix, usual_pivots());
    if (system_->kept > 0)
        check_schur_complement(matrix);
    else if (needs_pivots())
        factorize_delayed(matrix,
                          {[this] { return unknown_with_these_pivots("inertia and determinant are"); }});
}

// Whether columns may be delayed in this analysis.
template <class T> bool Solver<T>::State::can_delay() {
    return context_.on_root([&] { return (form_.has_d() || form_.has_upper()) && !panels_are_cut(); });
}

// Whether delayed columns may avoid replaced pivots or growth.
template <class T> bool Solver<T>::State::has_avoidable_pivots() {
    bool const is_perturbed = report.factor.pivots_replaced > 0 || refiner_->has_growth();
    return system_->kept == 0 && !system_->is_simplicial && is_perturbed && !may_have_delayed_ && can_delay();
}

// Whether inertia and determinant are requested, but cannot be known with replaced pivots and can with
// delayed ones.
template <class T> bool Solver<T>::State::needs_pivots() {
    return options.condition && has_avoidable_pivots();
}

// Why replaced pivots or growth leave a result unknown. `what` ends with "is" or "are".
template <class T> std::string Solver<T>::State::unknown_with_these_pivots(std::string_view what) const {
    Index const replaced = report.factor.pivots_replaced;
    return fmt::format("{} not known: {}", what,
                       replaced > 0 ? replaced_pivots(replaced)
                                    : inaccurate_factors(refiner_->errors_of_factors().backward, 0));
}

// Factorizes with delayed columns, whatever the options say, and examines the factors. If memory does not
// suffice, the pivoting of the options is used.
template <class T> void Solver<T>::State::factorize_delayed(CscMatrix<T> const& matrix, Delay const& delay) {
    double const tolerance = delay.is_strict ? strictest_tolerance() : options.pivot_tolerance;
    note_made_by([&] {
        return delay.reason() + "; factorizing with delayed pivots" +
               (delay.is_strict ? fmt::format(" and u = {}", tolerance) : "");
    });
    drop_notes_on_factors();
    PivotChoice const pivots{Pivoting::delayed, tolerance};
    try {
        factorize_numbers(matrix, false, pivots);
    } catch (Error const& error) {
        if (error.status() != Status::out_of_memory || options.pivoting == Pivoting::delayed) throw;
        note("{}; factorizing with the requested pivoting", error.what());
        factorize_numbers(matrix, false, usual_pivots());
    }
    examine_factors(matrix);
    keep_small_pivots(matrix, pivots);
}

// A pivot that no interchange makes larger may be as small as rounding errors, and belong to a matrix that is
// not close to a singular one nevertheless, for example if a row is small. Then its sign is known.
template <class T>
void Solver<T>::State::keep_small_pivots(CscMatrix<T> const& matrix, PivotChoice const& pivots) {
    bool const may_keep = may_have_delayed_ && system_->kept == 0 && report.factor.pivots_replaced > 0 &&
                          !refiner_->singularity().is_near;
    if (!context_.on_root([&] { return may_keep && options.pivot_threshold < 0; })) return;
    note_made_by([&] {
        return replaced_pivots(report.factor.pivots_replaced) +
               ", but the matrix is not singular; factorizing with these pivots";
    });
    drop_notes_on_factors();
    try {
        factorize_numbers(matrix, false, {pivots.pivoting, pivots.tolerance, true});
    } catch (Error const& error) {
        bool const overflows = error.status() == Status::inaccurate || error.status() == Status::singular;
        if (!overflows) throw;
        note("{}; replacing the small pivots again", error.what());
        factorize_numbers(matrix, false, pivots);
    }
    examine_factors(matrix);
}

template <class T> void Solver<T>::State::take_condition(ConditionEstimate const& estimate) {
    report.factor.rcond = estimate.rcond;
    if (!estimate.is_sure)
        note("the estimated reciprocal condition number may be too large: products with the inverse are "
             "inaccurate");
}

template <class T> void Solver<T>::State::examine_factors(CscMatrix<T> const& matrix) {
    refiner_->examine(factor_, report.factor.pivots_replaced, may_grow(), kept_unknowns(),
                      working_.of(matrix));
    report_singularity();
}

// A Schur complement is not refined. If static pivots make it inaccurate, columns are delayed.
template <class T> void Solver<T>::State::check_schur_complement(CscMatrix<T> const& matrix) {
    double const tolerance = options.tolerance > 0 ? options.tolerance : default_tolerance<T>();
    auto const is_good = [&] {
        report.factor.schur_error = refiner_->schur_error(factor_, kept_unknowns());
        return report.factor.schur_error <= tolerance;
    };
    if (is_good()) return;
    if (options.pivoting != Pivoting::delayed && can_delay()) {
        auto const reason = [this] {
            return fmt::format("the backward error of the Schur complement is {:.1e}",
                               report.factor.schur_error);
        };
        factorize_delayed(matrix, {reason});
        if (is_good()) return;
    }
    note("the Schur complement is inaccurate: its backward error {:.1e} is above the tolerance of {:.0e}",
         report.factor.schur_error, tolerance);
}

// On process 0: the rules for delayed columns; empty with static pivots. The processes of a computer have
// equal shares of the memory that the limit leaves.
template <class T>
std::optional<DelayRules> Solver<T>::State::choose_delays(bool narrow, PivotChoice pivots) {
    if (!(form_.has_d() || form_.has_upper())) return std::nullopt;
    if (pivots.pivoting == Pivoting::automatic && panels_are_cut()) { // factorize() refuses Pivoting::delayed
        note("static pivots are used, because the analysis has split panels in two dimensions");
        return std::nullopt;
    }
    double const roundoff = static_cast<double>(narrow ? epsilon<Low> : epsilon<T>);
    std::optional<DelayRules> rules = delay_rules(pivots.pivoting, pivots.tolerance, roundoff);
    if (rules && options.max_memory > 0) {
        std::uint64_t const panels = context_.largest_sum_of_a_computer(
            analysis_->memory_of_processes(narrow ? scalar_of<Low> : scalar_of<T>));
        auto const sharing = static_cast<std::uint64_t>(context_.processes_of_a_computer());
        rules->most_bytes = (options.max_memory - std::min(panels, options.max_memory)) / sharing;
    }
    return rules;
}

template <class T>
void Solver<T>::State::factorize_numbers(CscMatrix<T> const& matrix, bool narrow, PivotChoice pivots) {
    NumericSettings settings{.form = form_, .allocation = options.allocation, .progress = progress()};
    settings.delays = context_.on_root([&] { return choose_delays(narrow, pivots); });
    settings.pivot_threshold = context_.on_root([&] {
        double const roundoff = static_cast<double>(narrow ? epsilon<Low> : epsilon<T>);
        double const smallest = 10 * std::sqrt(static_cast<double>(system_->order)) * roundoff;
        double const usual = settings.delays ? std::min(std::sqrt(roundoff), smallest) : std::sqrt(roundoff);
        double const relative = options.pivot_threshold >= 0 ? options.pivot_threshold : usual;
        CscMatrix<T> const& a = working_.of(matrix);
        double const largest = // kept unknowns are not scaled
            system_->kept > 0 ? max_abs(interior_block(a, analysis_->options.schur)) : max_abs(a);
        if (pivots.keeps_small) {
            double const smallest_normal = std::numeric_limits<Real<T>>::min();
            return std::max(smallest_normal, smallest_normal / roundoff * largest);
        }
        return relative * (largest > 0 ? largest : 1.0);
    });
    may_have_delayed_ = settings.delays.has_value();
    auto const results = factor_.factorize(working_.of(matrix), settings, narrow);
    report = context_.on_root([&] { // later decisions depend on the report
        FactorReport& out = report.factor;
        double const before = out.time_s; // time of a failed attempt
        add_up(results, report.threads, out);
        delayed_bytes_.clear();
        for (FactorResult const& one : results) delayed_bytes_.push_back(one.stats.delayed_bytes);
        double const time_s = out.time_s - before;
        out.gflops = time_s > 0 ? report.analysis.flops / time_s / 1e9 : 0;
        out.tasks = analysis_->plan.tasks;
        out.scalar = narrow ? scalar_of<Low> : scalar_of<T>;
        if (out.pivots_replaced > 0)
            note_on_factors("{} pivot{} smaller than {:.1e} {} replaced", out.pivots_replaced,
                            out.pivots_replaced == 1 ? "" : "s", settings.pivot_threshold,
                            out.pivots_replaced == 1 ? "was" : "were");
        if (out.pivots_delayed > 0)
            note_on_factors("{} column{} delayed to later blocks for better pivots", out.pivots_delayed,
                            out.pivots_delayed == 1 ? " was" : "s were");
        return report;
    });
}

template <class T> void Solver<T>::State::factorize_incomplete(CscMatrix<T> const& matrix) {
    ProgressScope const phase(progress(), "factorization", 0);
    trace::Scope const recorded(context_.phases(), trace::Kind::factorization);
    PivotDemand const pivots = context_.on_root([&] {
        // 0 would stand for the default
        constexpr double least = std::numeric_limits<Real<T>>::min() / epsilon<T>;
        bool const is_default = options.pivot_threshold < 0;
        return PivotDemand{form_.kind == Factorization::llh,
                           is_default ? 0 : std::max(options.pivot_threshold, least), most_restarts};
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
            note("the incomplete factors are those of A + {} diag(A), after {} restart{}: pivots of A were "
                 "too small{}",
                 found.shift, found.restarts, found.restarts == 1 ? "" : "s",
                 pivots.positive ? " or not positive" : "");
        if (replaced > 0)
            note("{} pivot{} too small{} for the incomplete factorization and {} replaced", replaced,
                 replaced == 1 ? " was" : "s were", pivots.positive ? " or not positive" : "",
                 replaced == 1 ? "was" : "were");
        return report;
    });
    refiner_->accept(replaced + (found.shift > 0 ? 1 : 0));
}

template <class T> void Solver<T>::State::report_singularity() {
    Singularity const& found = refiner_->singularity();
    report.factor.condition_estimate = found.condition_estimate;
    report.factor.numerically_singular = found.is_numerical;
    char const* const what = system_->kept == 0 ? "matrix" : "interior block of the matrix";
    if (found.is_near)
        note_on_factors(
            "the {} is singular to working precision (componentwise condition number {:.0e} or more)", what,
            found.condition_estimate);
    else if (found.condition_estimate * static_cast<double>(epsilon<T>) > 1e-6)
        note_on_factors("the {} is ill-conditioned: its componentwise condition number is about {:.0e}", what,
                        found.condition_estimate);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Solver<T>::State::factorize(CscMatrix<T> const&);                                          \
    template void Solver<T>::State::factorize_full(CscMatrix<T> const&, Delay const&);                       \
    template void Solver<T>::State::examine_factors(CscMatrix<T> const&);                                    \
    template void Solver<T>::State::prepare_assembly(CscMatrix<T> const&);                                   \
    template bool Solver<T>::State::has_avoidable_pivots();                                                  \
    template std::string Solver<T>::State::unknown_with_these_pivots(std::string_view) const;                \
    template void Solver<T>::State::factorize_delayed(CscMatrix<T> const&, Delay const&);                    \
    template void Solver<T>::State::take_condition(ConditionEstimate const&);                                \
    template void Solver<T>::State::factorize_by_supernodes(CscMatrix<T> const&, char const*);               \
    template Options Solver<T>::State::options_of_analysis() const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
