// The factorizations with supernodes of an analyzed system: which precision and which pivots are tried, in
// which order, and why. NumericFactor computes each of them, and FactorExaminer examines the factors. Every
// attempt after the first one has a note.
//
//     1. lower precision, if Options::mixed_precision is set;
//     2. the pivoting of the options, if the factors of 1 are not accurate enough;
//     3. delayed columns, whatever the options say, if static pivots leave the Schur complement inaccurate or
//        a requested result unknown, or if the caller demands them;
//     4. pivots as small as rounding errors, if delayed columns lead to them and the matrix is not singular.
//
// A limit of memory may lead from 3 back to 2, and an overflow from 4 back to 3. Every process of a group has
// one of these, and all make the same calls. Errors are the same on all processes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.hpp"
#include "espalier/options.hpp"
#include "espalier/report.hpp"
#include "solver/analyzed_system.hpp"
#include "solver/notes.hpp"
#include "solver/numeric_factor.hpp"
#include "solver/process_context.hpp"
#include "solver/refiner.hpp"

namespace espalier {

/// How to factorize, beside the options.
struct FactorDemand {
    bool in_full = false; ///< Not in lower precision.
    /// Returns the reason to delay columns, whatever the options say, which becomes a note. Only process 0
    /// makes its text, because this allocates. Null if there is no reason.
    std::function<std::string()> why_delays{};
    /// Whether pivots obey SupernodalFactorization::strictest_tolerance() instead of
    /// Options::pivot_tolerance.
    bool is_strict = false;
};

/// Says that factors with this backward error are inaccurate, and why.
std::string inaccurate_factors(double error, Index pivots_replaced);

/// Sets the results of inverse iteration in the report. Adds a note if the matrix, or the interior block of
/// one with `kept` unknowns of a Schur complement, is singular or ill-conditioned.
template <class T>
void report_singularity(Singularity const& found, Index kept, FactorReport& report, Notes& notes);

template <class T> class SupernodalFactorization {
  public:
    /// `analysis` is null on other processes than 0. The arguments must outlive this, except `system`.
    SupernodalFactorization(ProcessContext& context, Options const& options, AnalyzedSystem const& system,
                            Analysis<T> const* analysis, NumericFactor<T>& factor, Refiner<T>& refiner,
                            Report& report, Notes& notes)
        : context_(context), options_(options), system_(system), analysis_(analysis), factor_(factor),
          refiner_(refiner), report_(report), notes_(notes) {}

    /// Collective: factorizes and examines the working system of process 0, and sets Report::factor. The
    /// assembly map of `factor` and the matrix of `refiner` are those of `working`. Errors as
    /// NumericFactor::factorize().
    void factorize(CscMatrix<T> const& working, FactorForm form, FactorDemand const& demand = {});
    /// Collective: does so with delayed columns, because replaced pivots or growth leave a result unknown.
    /// `what` names it and ends with "is" or "are".
    void factorize_for(CscMatrix<T> const& working, std::string_view what);
    /// Collective: examines factors that an update has changed.
    void examine(CscMatrix<T> const& working);

    /// Whether the pivots of the last factorization were chosen with delays.
    [[nodiscard]] bool may_have_delayed() const { return may_have_delayed_; }
    /// On process 0: the bytes of delayed columns on each process.
    [[nodiscard]] std::span<std::uint64_t const> delayed_bytes() const { return delayed_bytes_; }
    /// Collective: whether delayed columns may avoid growth in factors of the last form.
    [[nodiscard]] bool can_avoid_growth() const { return may_grow() && can_delay(); }
    /// Collective: whether delayed columns may avoid the replaced pivots or the growth of these factors.
    [[nodiscard]] bool has_avoidable_pivots() const;
    /// The largest useful value of Options::pivot_tolerance.
    [[nodiscard]] double strictest_tolerance() const { return form_.has_upper() ? 1 : 0.5; }

  private:
    using Low = Narrow<T>;

    struct PivotChoice {
        Pivoting pivoting;
        double tolerance;
        bool keeps_small = false; // only pivots that are zero or would overflow are replaced
    };

    bool factorize_narrow(CscMatrix<T> const& working);
    void factorize_as_requested(CscMatrix<T> const& working);
    void factorize_delayed(CscMatrix<T> const& working, std::function<std::string()> const& reason,
                           bool is_strict = false);
    void keep_small_pivots(CscMatrix<T> const& working, PivotChoice const& pivots);
    void check_schur_complement(CscMatrix<T> const& working);

    void attempt(CscMatrix<T> const& working, bool narrow, PivotChoice const& pivots);
    [[nodiscard]] std::optional<DelayRules> choose_delays(PivotChoice const& pivots, double roundoff,
                                                          Scalar scalar);
    [[nodiscard]] double usual_threshold(double largest, double roundoff, bool may_delay) const;
    [[nodiscard]] static double least_threshold(double largest, double roundoff);
    void report_attempt(std::vector<FactorResult> const& results, Scalar scalar, double pivot_threshold);

    [[nodiscard]] PivotChoice usual_pivots() const { return {options_.pivoting, options_.pivot_tolerance}; }
    [[nodiscard]] bool chooses_pivots() const { return form_.has_d() || form_.has_upper(); }
    // Whether entries may grow without bound in the elimination.
    [[nodiscard]] bool may_grow() const { return system_.kept == 0 && chooses_pivots(); }
    [[nodiscard]] bool can_delay() const;
    [[nodiscard]] bool panels_are_cut() const;
    // Whether inertia and determinant are requested, but cannot be known with replaced pivots and can with
    // delayed ones.
    [[nodiscard]] bool needs_pivots() const { return options_.condition && has_avoidable_pivots(); }
    [[nodiscard]] std::string unknown_with_these_pivots(std::string_view what) const;
    [[nodiscard]] std::span<Index const> kept_unknowns() const;

    ProcessContext& context_;
    Options const& options_;
    AnalyzedSystem system_;
    Analysis<T> const* analysis_;
    NumericFactor<T>& factor_;
    Refiner<T>& refiner_;
    Report& report_;
    Notes& notes_;
    FactorForm form_; ///< The form of the last factorization.
    bool may_have_delayed_ = false;
    std::vector<std::uint64_t> delayed_bytes_;
};

} // namespace espalier
