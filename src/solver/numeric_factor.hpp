// The numeric factorization of a working system: the panels of this process, in T or in lower precision,
// their computation from the values of a matrix, and the solves with them. Every process of a group has one,
// and all make the same calls.
//
// Vectors have the layout of solve/solve.hpp: all n rows with one process, and the owned rows with several.
// Only process 0 has matrices, and it distributes their entries to the owners. Errors are the same on all
// processes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/analysis.hpp"
#include "distributed/distributed_matrix.hpp"
#include "espalier/espalier.hpp"
#include "factor/assembly.hpp"
#include "factor/deal_plan.hpp"
#include "factor/factor_results.hpp"
#include "factor/factorize.hpp"
#include "factor/low_rank_update.hpp"
#include "factor/pivots.hpp"
#include "refine/singularity.hpp"
#include "solve/selected_inverse.hpp"
#include "solve/solve.hpp"
#include "solver/process_context.hpp"
#include "solver/working_inverse.hpp"

namespace espalier {

/// The settings of a factorization; equal on all processes.
struct NumericSettings {
    FactorForm form;
    Allocation allocation = Allocation::local;
    double pivot_threshold = 0;         ///< Pivots with a smaller modulus are replaced.
    std::optional<DelayRules> delays{}; ///< Set if columns may be delayed.
    ProgressSink* progress = nullptr;   ///< Progress of this process; may be null.
};

template <class T> class NumericFactor : public WorkingInverse<T> {
  public:
    using Low = Narrow<T>;

    /// `context` must outlive this.
    explicit NumericFactor(ProcessContext& context) : context_(context) {}

    /// Collective: sets the structure and the plan. Process 0 passes its analysis, which must outlive their
    /// use. Several processes receive their parts, which leave the analysis. Returns the rows that each
    /// process owns.
    DistributedRows prepare(Analysis<T>* analysis);
    /// Drops the plan, the assembly map and the factors. Not collective.
    void clear();
    /// The structure of this process, after prepare().
    [[nodiscard]] BlockStructure const& structure() const { return *structure_; }

    /// Forgets the assembly map, if the next matrix has another pattern. Not collective.
    void drop_assembly() { assembly_.reset(); }
    [[nodiscard]] bool has_assembly() const { return assembly_.has_value(); }
    /// Collective: computes the assembly map of the working system, which process 0 passes.
    void set_assembly(CscMatrix<T> const& working);

    /// Collective: factorizes the working system of process 0, in lower precision if `narrow`. Drops factors
    /// in the other precision. Returns the results of all processes on process 0, and nothing elsewhere.
    /// Errors as espalier::factorize().
    std::vector<FactorResult> factorize(CscMatrix<T> const& working, NumericSettings const& settings,
                                        bool narrow);

    /// Provides the memory of a solve with one right-hand side if there is one process. The workers touch
    /// large memory, so that the first solve does not wait for its pages. Error{out_of_memory}.
    void prepare_solve();
    /// Returns the memory that solves keep between calls.
    void release_workspace() { workspace_ = Workspace(); }

    /// Whether the factors are in lower precision.
    [[nodiscard]] bool is_narrow() const { return narrow_ != nullptr; }

    /// Collective: block := op(B)^-1 block for `columns` vectors. In lower precision each column is scaled to
    /// order 1 first, because the range of Low is small.
    void solve(std::span<T> block, Index columns, MatrixOp op) override;
    [[nodiscard]] InverseAccuracy accuracy() const override {
        return is_narrow() ? InverseAccuracy::narrow : InverseAccuracy::full;
    }
    /// Solves for sparse right-hand sides (n x k, general storage), with one process and factors in T.
    void solve_sparse(CscMatrix<T> const& b, MatrixView<T> x, MatrixOp op);
    /// Collective: the steps before and after the solve with the Schur complement. They are those of
    /// espalier::condense() and expand().
    void condense(std::span<T> block, Index columns, MatrixOp op = MatrixOp::none);
    void expand(std::span<T> block, Index columns, MatrixOp op = MatrixOp::none);
    /// Collective: returns espalier::schur_complement() on process 0, which owns all kept cblks, and nothing
    /// elsewhere.
    DenseMatrix<T> schur_complement(std::span<Index const> unknowns);
    /// Collective: returns espalier::schur_product() on process 0, and nothing elsewhere.
    std::vector<T> schur_product(std::span<Index const> unknowns, std::span<T const> v);

    /// The factors of the only process, which must be in T.
    [[nodiscard]] Factor<T> const& factor() const { return *full_; }

    /// Whether update() can change these factors in place, and the change. With one process, they are
    /// can_update_low_rank() and update_low_rank().
    [[nodiscard]] bool can_update() const;
    LowRankResult update(CscMatrix<T> const& w, int sign, double largest);

    /// The inverse on the structure of the factors, with one process and factors in T.
    [[nodiscard]] SelectedInverse<T> selected_inverse();

    /// Collective: counts the signs of all pivots by pivot_signs().
    [[nodiscard]] Inertia inertia();
    /// Collective: returns det B by pivot_product().
    [[nodiscard]] Determinant<T> determinant();
    /// Collective: the pivots relative to their origin in the working system, by espalier::relative_pivots().
    [[nodiscard]] PivotRange relative_pivots(DistributedMatrix<T> const& working, double enough) const;

  private:
    template <class F> [[nodiscard]] std::unique_ptr<Factor<F>>& slot() {
        if constexpr (std::is_same_v<F, T>)
            return full_;
        else
            return narrow_;
    }
    /// Calls body(factor) with the factor, in T or in Low.
    template <class Body> auto with_factor(Body const& body) const {
        if constexpr (!std::is_same_v<Low, T>)
            if (narrow_) return body(std::as_const(*narrow_));
        return body(std::as_const(*full_));
    }
    template <class F>
    std::vector<FactorResult> run(CscMatrix<T> const& working, NumericSettings const& settings);
    template <class F> void require_available(NumericSettings const& settings);
    template <class F> void allocate(NumericSettings const& settings);
    void deal_values(CscMatrix<T> const& working, std::vector<T>& own);
    std::vector<FactorResult> collect(FactorResult mine);
    SolveOptions solve_options(MatrixOp op);
    template <class F> MatrixView<F> view(std::span<F> block, Index columns) const;

    ProcessContext& context_;
    Analysis<T> const* analysis_ = nullptr; ///< Null on other processes than 0.
    std::optional<ProcessPart> part_;       ///< Set with several processes.
    BlockStructure const* structure_ = nullptr;
    FactorPlan const* plan_ = nullptr;
    std::optional<AssemblyMap> assembly_;
    /// On process 0, the positions of the values of each process in the matrix.
    std::vector<std::vector<Offset>> sources_;
    Offset own_values_ = 0;
    std::unique_ptr<Factor<T>> full_;
    std::unique_ptr<Factor<Low>> narrow_; ///< At most one of full_ and narrow_ is set.
    std::optional<PivotRange> pivots_;    ///< The pivots of this process, if known since a factorization.
    Workspace workspace_;                 ///< Memory of sweeps.
};

} // namespace espalier
