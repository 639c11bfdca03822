#include "analysis/plan_without_supernodes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "core/progress.hpp"
#include "core/timer.hpp"
#include "minimum_degree/band.hpp"

namespace espalier {

namespace {

template <class T> class SimplicialPlanner {
  public:
    SimplicialPlanner(CscMatrix<T> const& matrix, AnalysisContext const& context, Analysis<T>& analysis)
        : matrix_(matrix), context_(context), interrupt_(*context.interrupt), options_(analysis.options),
          form_(analysis.form), analysis_(analysis) {}

    bool run() {
        if (!is_allowed()) return false;
        ProgressScope const progress(options_.progress, "ordering", 0);
        Timer const timer;
        bool const is_planned = form_.has_upper() ? plan_lu() : form_.has_d() ? plan_ldl() : plan_cholesky();
        if (!is_planned) return false;
        analysis_.cost_model = "default";
        analysis_.ordering_s = timer.seconds();
        analysis_.working_entries = matrix_.stored();
        interrupt_.check();
        return true;
    }

  private:
    // Returns whether to plan a factorization without supernodes: it is possible, and the user has either
    // requested it or set no option that applies to supernodes only.
    [[nodiscard]] bool is_allowed() const {
        if (options_.supernodes == Toggle::on || options_.method != SolveMethod::direct) return false;
        char const* const need = unmet_need();
        bool const is_asked = options_.supernodes == Toggle::off;
        if (need && is_asked)
            context_.note(fmt::format("supernodes are used: a factorization without them needs {}", need));
        return !need && (is_asked || (may_order() && has_usual_pivots() && has_usual_blocks()));
    }

    // Returns the first requirement of a factorization without supernodes that the matrix or the options do
    // not meet, or null if they meet all of them.
    [[nodiscard]] char const* unmet_need() const {
        if (form_.kind == Factorization::llt) return "lu, llh, ldlt or ldlh";
        if (form_.has_upper() != (matrix_.symmetry == Symmetry::general))
            return form_.has_upper() ? "a matrix that is stored in full"
                                     : "a matrix that is stored as a triangle";
        if (context_.processes > 1) return "one process";
        if (!options_.schur.empty()) return "no Schur complement";
        if (analysis_.factors_narrow(options_.mixed_precision))
            return "factors in the precision of the matrix";
        if (options_.allow_singular) return "allow-singular off";
        if (options_.record_trace) return "no trace";
        if (!options_.topology.empty()) return "the topology of this machine";
        if (!form_.has_upper() && !has_usual_pivots())
            return "the default matching, scaling, pivoting and pivot threshold";
        if (!form_.has_upper() && !may_order()) return "ordering auto or amd";
        return nullptr;
    }

    [[nodiscard]] bool has_usual_pivots() const {
        static Options const usual;
        bool const has_matching =
            options_.matching == usual.matching || (options_.matching == Toggle::on && form_.has_d());
        return has_matching && options_.scaling == usual.scaling && options_.pivoting == usual.pivoting &&
               options_.pivot_threshold == usual.pivot_threshold;
    }

    [[nodiscard]] bool has_usual_blocks() const {
        static Options const usual;
        return options_.schedule == usual.schedule && options_.splitting == usual.splitting &&
               options_.max_block_width == usual.max_block_width &&
               options_.min_block_width == usual.min_block_width &&
               options_.amalgamation_fill == usual.amalgamation_fill;
    }

    [[nodiscard]] bool may_order() const {
        return options_.ordering == OrderingMethod::automatic || options_.ordering == OrderingMethod::amd;
    }

    // Returns whether the analysis chooses the faster factorization, with or without supernodes.
    [[nodiscard]] bool chooses_supernodes() const { return options_.supernodes == Toggle::automatic; }

    bool plan_lu() {
        bool const is_natural = options_.ordering == OrderingMethod::natural;
        auto plan = plan_simplicial_lu({matrix_.col_ptr, matrix_.row_ind}, !is_natural, chooses_supernodes());
        if (!plan && options_.supernodes == Toggle::off)
            context_.note("supernodes are used: the matrix has too many rows or entries to do without them");
        if (!plan) return false;
        Index const rank = plan->form.structural_rank;
        if (rank < matrix_.cols) {
            require_no_empty_row(matrix_, options_.schur, &interrupt_);
            throw Error(Status::singular,
                        fmt::format("the matrix is structurally singular: its structural rank is {} of {}",
                                    rank, matrix_.cols));
        }
        analysis_.ordering = is_natural ? OrderingMethod::natural : OrderingMethod::amd;
        analysis_.simplicial_lu = plan.take();
        return true;
    }

    // Returns whether llh without supernodes is likely to be faster. Planning it otherwise wastes time that
    // is a large part of an analysis with supernodes. Forests and networks with few cycles have little fill,
    // and so have narrow bands, grids of a few thousand rows and meshes of a few hundred rows.
    [[nodiscard]] bool may_have_little_fill() const {
        constexpr Offset few_entries = 2000;
        constexpr double most = 40'000;
        auto const n = static_cast<double>(matrix_.cols);
        double const neighbors = 2 * static_cast<double>(matrix_.stored() - matrix_.cols) / std::max(n, 1.0);
        return matrix_.stored() <= few_entries || n * std::pow(std::max(neighbors - 2, 0.0), 4) <= most ||
               narrow_bandwidth<Offset, Index>(matrix_.col_ptr, matrix_.row_ind, true);
    }

    bool plan_cholesky() {
        if (chooses_supernodes() && !may_have_little_fill()) return false;
        if (options_.factorization != Factorization::automatic) // auto requires a positive diagonal for llh
            require_no_empty_row(matrix_, {}, &interrupt_);
        return take(plan_simplicial_cholesky(matrix_, chooses_supernodes()));
    }

    // Larger systems are factorized faster with supernodes, and their plan takes as long as an ordering.
    bool plan_ldl() {
        constexpr Offset most_entries = 20'000;
        if (chooses_supernodes() && matrix_.stored() > most_entries) return false;
        PlanResult<LdlPlan> plan = NoPlan::impossible; // without a matching
        if (options_.matching != Toggle::on)
            plan = plan_simplicial_ldl(matrix_, nullptr, chooses_supernodes());
        if (plan.is(NoPlan::impossible)) plan = plan_matched_ldl();
        if (!plan && options_.supernodes == Toggle::off)
            context_.note("supernodes are used: rows with a weak diagonal have no partners for 2 x 2 pivots");
        return take(std::move(plan));
    }

    PlanResult<LdlPlan> plan_matched_ldl() {
        require_no_empty_row(matrix_, options_.schur, &interrupt_);
        analysis_.match(matrix_, 1, &interrupt_);
        if (!analysis_.system.is_matched()) return NoPlan::impossible;
        MatchedRows const matched{analysis_.system.pairs(), analysis_.system.choice().row_scale};
        return plan_simplicial_ldl(matrix_, &matched, chooses_supernodes());
    }

    bool take(PlanResult<LdlPlan> plan) {
        if (!plan) return false;
        if (plan->is_matched) analysis_.note_matching(context_);
        analysis_.system = {}; // these factors have their own scales
        analysis_.ordering = OrderingMethod::amd;
        analysis_.simplicial_ldl = plan.take();
        return true;
    }

    CscMatrix<T> const& matrix_;
    AnalysisContext const& context_;
    Interrupt& interrupt_;
    Options const& options_;
    FactorForm const& form_;
    Analysis<T>& analysis_;
};

} // namespace

template <class T> bool plan_without_supernodes(CscMatrix<T> const& matrix, AnalysisContext const& context,
                                                Analysis<T>& analysis) {
    return SimplicialPlanner<T>(matrix, context, analysis).run();
}

ESPALIER_INSTANTIATE_FUNCTION(plan_without_supernodes)

} // namespace espalier
