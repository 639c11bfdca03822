#include "solver/supernodal_factorization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "core/counted.hpp"
#include "matrix/convert.hpp"
#include "matrix/norms.hpp"
#include "options/report_table.hpp"

namespace espalier {

namespace {

std::string replaced_pivots(Index count) {
    return counted(count, "pivot was", "pivots were") + " replaced";
}

} // namespace

std::string inaccurate_factors(double error, Index replaced) {
    return fmt::format("the factors are inaccurate, because {} (backward error {:.1e})",
                       replaced > 0 ? replaced_pivots(replaced) : "entries grew in the elimination", error);
}

template <class T>
void report_singularity(Singularity const& found, Index kept, FactorReport& report, Notes& notes) {
    report.condition_estimate = found.condition_estimate;
    report.numerically_singular = found.lacks_unique_solutions;
    char const* const what = kept == 0 ? "matrix" : "interior block of the matrix";
    if (found.is_singular)
        notes.add_on_factors(
            "the {} is singular to working precision (componentwise condition number {:.0e} or more)", what,
            found.condition_estimate);
    else if (found.condition_estimate * static_cast<double>(epsilon<T>) > 1e-6)
        notes.add_on_factors("the {} is ill-conditioned: its componentwise condition number is about {:.0e}",
                             what, found.condition_estimate);
}

template <class T> void SupernodalFactorization<T>::factorize(CscMatrix<T> const& working, FactorForm form,
                                                              FactorDemand const& demand) {
    form_ = form;
    refiner_.forget_factors(0);
    if (demand.why_delays) return factorize_delayed(working, demand.why_delays, demand.is_strict);
    bool is_unknown = false; // whether lower precision left inertia and determinant unknown
    if (!demand.in_full) {
        if (factorize_narrow(working)) return;
        is_unknown = needs_pivots();
        bool const fell_back = report_.factor.precision_fell_back;
        report_.factor = {};
        report_.factor.precision_fell_back = fell_back;
    }
    if (report_.factor.precision_fell_back)
        context_.on_root([&] {
            require_memory(context_.largest_sum_of_a_computer(analysis_->memory_of_processes(scalar_of<T>)),
                           options_.max_memory);
        });
    if (!is_unknown) return factorize_as_requested(working);
    factorize_delayed(working, [] { return "inertia and determinant are not known from single precision"; });
}

template <class T>
void SupernodalFactorization<T>::factorize_for(CscMatrix<T> const& working, std::string_view what) {
    factorize_delayed(working, [&] { return unknown_with_these_pivots(what); });
}

// Factorizes in lower precision if the options say so. Returns false, with the reason in a note, if the
// factors are not accurate enough for refinement.
template <class T> bool SupernodalFactorization<T>::factorize_narrow(CscMatrix<T> const& working) {
    if (!context_.on_root([&] { return analysis_->factors_narrow(options_.mixed_precision); })) return false;
    std::string reason;
    try {
        attempt(working, true, usual_pivots());
        if (needs_pivots() || (!system_.allow_singular && refiner_.examiner().is_suspicious(
                                                              factor_, report_.factor.pivots_replaced,
                                                              static_cast<double>(epsilon<Low>), may_grow())))
            context_.on_all([&] { reason = "pivots are too small for it"; });
    } catch (Error const& error) {
        if (error.status() == Status::cancelled || error.status() == Status::out_of_memory) throw;
        context_.on_all([&] { reason = error.what(); });
    }
    if (reason.empty()) {
        refiner_.forget_factors(report_.factor.pivots_replaced);
        return true;
    }
    report_.factor.precision_fell_back = true;
    notes_.add("single precision is not accurate enough ({}); factorizing in double", reason);
    return false;
}

template <class T> void SupernodalFactorization<T>::factorize_as_requested(CscMatrix<T> const& working) {
    attempt(working, false, usual_pivots());
    examine(working);
    keep_small_pivots(working, usual_pivots());
    if (system_.kept > 0)
        check_schur_complement(working);
    else if (needs_pivots())
        factorize_for(working, "inertia and determinant are");
}

// Factorizes with delayed columns, whatever the options say, and examines the factors. If memory does not
// suffice, the pivoting of the options is used.
template <class T>
void SupernodalFactorization<T>::factorize_delayed(CscMatrix<T> const& working,
                                                   std::function<std::string()> const& reason,
                                                   bool is_strict) {
    double const tolerance = is_strict ? strictest_tolerance() : options_.pivot_tolerance;
    notes_.add_made_by([&] {
        return reason() + "; factorizing with delayed pivots" +
               (is_strict ? fmt::format(" and u = {}", tolerance) : "");
    });
    notes_.drop_on_factors();
    PivotChoice const pivots{Pivoting::delayed, tolerance};
    try {
        attempt(working, false, pivots);
    } catch (Error const& error) {
        if (error.status() != Status::out_of_memory || options_.pivoting == Pivoting::delayed) throw;
        notes_.add("{}; factorizing with the requested pivoting", error.what());
        attempt(working, false, usual_pivots());
    }
    examine(working);
    keep_small_pivots(working, pivots);
}

// A pivot that no interchange makes larger may be as small as rounding errors, and belong to a matrix that is
// not close to a singular one nevertheless, for example if a row is small. Then its sign is known.
template <class T>
void SupernodalFactorization<T>::keep_small_pivots(CscMatrix<T> const& working, PivotChoice const& pivots) {
    bool const may_keep = may_have_delayed_ && system_.kept == 0 && report_.factor.pivots_replaced > 0 &&
                          !refiner_.verdict().singularity.is_singular;
    if (!context_.on_root([&] { return may_keep && options_.pivot_threshold < 0; })) return;
    notes_.add_made_by([&] {
        return replaced_pivots(report_.factor.pivots_replaced) +
               ", but the matrix is not singular; factorizing with these pivots";
    });
    notes_.drop_on_factors();
    try {
        attempt(working, false, {pivots.pivoting, pivots.tolerance, true});
    } catch (Error const& error) {
        bool const overflows = error.status() == Status::inaccurate || error.status() == Status::singular;
        if (!overflows) throw;
        notes_.add("{}; replacing the small pivots again", error.what());
        attempt(working, false, pivots);
    }
    examine(working);
}

// A Schur complement is not refined. If static pivots make it inaccurate, columns are delayed.
template <class T> void SupernodalFactorization<T>::check_schur_complement(CscMatrix<T> const& working) {
    double const tolerance = effective_tolerance<T>(options_.tolerance);
    double& error = report_.factor.schur_error;
    auto const is_good = [&] {
        error = refiner_.examiner().schur_error(factor_, kept_unknowns());
        return error <= tolerance;
    };
    if (is_good()) return;
    if (options_.pivoting != Pivoting::delayed && can_delay()) {
        factorize_delayed(working, [&] {
            return fmt::format("the backward error of the Schur complement is {:.1e}", error);
        });
        if (is_good()) return;
    }
    notes_.add(
        "the Schur complement is inaccurate: its backward error {:.1e} is above the tolerance of {:.0e}",
        error, tolerance);
}

template <class T> void SupernodalFactorization<T>::examine(CscMatrix<T> const& working) {
    refiner_.examine(factor_, report_.factor.pivots_replaced, may_grow(), kept_unknowns(), working);
    report_singularity<T>(refiner_.verdict().singularity, system_.kept, report_.factor, notes_);
}

template <class T> bool SupernodalFactorization<T>::has_avoidable_pivots() const {
    bool const is_perturbed = report_.factor.pivots_replaced > 0 || refiner_.verdict().has_growth();
    return system_.kept == 0 && is_perturbed && !may_have_delayed_ && can_delay();
}

// Whether columns may be delayed in this analysis.
template <class T> bool SupernodalFactorization<T>::can_delay() const {
    return context_.on_root([&] { return chooses_pivots() && !panels_are_cut(); });
}

// On process 0: whether tasks compute parts of panels, so that columns cannot be delayed.
template <class T> bool SupernodalFactorization<T>::panels_are_cut() const {
    return analysis_->plan.cuts_panels && analysis_->plan.settings.splitting == Splitting::two_d;
}

// Why replaced pivots or growth leave a result unknown.
template <class T>
std::string SupernodalFactorization<T>::unknown_with_these_pivots(std::string_view what) const {
    Index const replaced = report_.factor.pivots_replaced;
    return fmt::format("{} not known: {}", what,
                       replaced > 0 ? replaced_pivots(replaced)
                                    : inaccurate_factors(refiner_.verdict().errors.backward, 0));
}

// The unknowns of a Schur complement on process 0; empty on other processes.
template <class T> std::span<Index const> SupernodalFactorization<T>::kept_unknowns() const {
    return analysis_ ? std::span<Index const>(analysis_->options.schur) : std::span<Index const>();
}

// One numeric factorization, without a look at its factors.
template <class T> void SupernodalFactorization<T>::attempt(CscMatrix<T> const& working, bool narrow,
                                                            PivotChoice const& pivots) {
    double const roundoff = static_cast<double>(narrow ? epsilon<Low> : epsilon<T>);
    Scalar const scalar = narrow ? scalar_of<Low> : scalar_of<T>;
    NumericSettings settings{.form = form_,
                             .allocation = options_.allocation,
                             .progress = context_.is_root() ? options_.progress : nullptr};
    settings.delays = context_.on_root([&] { return choose_delays(pivots, roundoff, scalar); });
    settings.pivot_threshold = context_.on_root([&] {
        double const largest = // kept unknowns are not scaled
            system_.kept > 0 ? max_abs(interior_block(working, kept_unknowns())) : max_abs(working);
        return pivots.keeps_small ? least_threshold(largest, roundoff)
                                  : usual_threshold(largest, roundoff, settings.delays.has_value());
    });
    may_have_delayed_ = settings.delays.has_value();
    auto const results = factor_.factorize(working, settings, narrow);
    report_ = context_.on_root([&] { // later decisions depend on the report
        report_attempt(results, scalar, settings.pivot_threshold);
        return report_;
    });
}

// On process 0: the rules for delayed columns; empty with static pivots. The processes of a computer have
// equal shares of the memory that the limit leaves.
template <class T> std::optional<DelayRules>
SupernodalFactorization<T>::choose_delays(PivotChoice const& pivots, double roundoff, Scalar scalar) {
    if (!chooses_pivots()) return std::nullopt;
    if (pivots.pivoting == Pivoting::automatic && panels_are_cut()) { // factorize() refuses Pivoting::delayed
        notes_.add("static pivots are used, because the analysis has split panels in two dimensions");
        return std::nullopt;
    }
    std::optional<DelayRules> rules = delay_rules(pivots.pivoting, pivots.tolerance, roundoff);
    if (rules && options_.max_memory > 0) {
        std::uint64_t const panels =
            context_.largest_sum_of_a_computer(analysis_->memory_of_processes(scalar));
        auto const sharing = static_cast<std::uint64_t>(context_.processes_of_a_computer());
        rules->most_bytes = (options_.max_memory - std::min(panels, options_.max_memory)) / sharing;
    }
    return rules;
}

// On process 0: pivots below this are replaced in a system with this largest entry.
template <class T>
double SupernodalFactorization<T>::usual_threshold(double largest, double roundoff, bool may_delay) const {
    double const smallest = 10 * std::sqrt(static_cast<double>(system_.order)) * roundoff;
    double const usual = may_delay ? std::min(std::sqrt(roundoff), smallest) : std::sqrt(roundoff);
    double const relative = options_.pivot_threshold >= 0 ? options_.pivot_threshold : usual;
    return relative * (largest > 0 ? largest : 1.0);
}

// The threshold that replaces only pivots that are zero or would overflow.
template <class T> double SupernodalFactorization<T>::least_threshold(double largest, double roundoff) {
    double const smallest_normal = std::numeric_limits<Real<T>>::min();
    return std::max(smallest_normal, smallest_normal / roundoff * largest);
}

// On process 0.
template <class T> void SupernodalFactorization<T>::report_attempt(std::vector<FactorResult> const& results,
                                                                   Scalar scalar, double pivot_threshold) {
    FactorReport& out = report_.factor;
    double const before = out.time_s; // time of a failed attempt
    add_up(results, report_.threads, out);
    delayed_bytes_.clear();
    for (FactorResult const& one : results) delayed_bytes_.push_back(one.stats.delayed_bytes);
    double const time_s = out.time_s - before;
    out.gflops = time_s > 0 ? report_.analysis.flops / time_s / 1e9 : 0;
    out.tasks = analysis_->plan.tasks;
    out.scalar = scalar;
    if (out.pivots_replaced > 0)
        notes_.add_on_factors("{} smaller than {:.1e} {} replaced", counted(out.pivots_replaced, "pivot"),
                              pivot_threshold, noun_for(out.pivots_replaced, "was", "were"));
    if (out.pivots_delayed > 0)
        notes_.add_on_factors("{} delayed to later blocks for better pivots",
                              counted(out.pivots_delayed, "column was", "columns were"));
}

ESPALIER_INSTANTIATE_CLASS(SupernodalFactorization)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void report_singularity<T>(Singularity const&, Index, FactorReport&, Notes&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
