// Refinement, condition estimates and null spaces with the current inverse, on the rows that this process
// owns. Input: the working system B = P R A C of process 0, which is distributed to the owners. Refinement
// runs in the scaled system B and is measured in the system P A = R^-1 B C^-1. Every process of a group has a
// refiner, and all make the same calls. Results and errors are the same on all processes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/timer.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/given_residual.hpp"
#include "espalier/options.hpp"
#include "espalier/report.hpp"
#include "refine/condition.hpp"
#include "refine/null_space.hpp"
#include "refine/refine.hpp"
#include "solver/factor_examiner.hpp"
#include "solver/system_vectors.hpp"
#include "solver/working_inverse.hpp"

namespace espalier {

template <class T> class Refiner {
  public:
    /// The arguments must outlive this.
    Refiner(ProcessContext& context, WorkingInverse<T>& inverse, SystemVectors<T>& vectors)
        : context_(context), inverse_(inverse), vectors_(vectors) {}

    /// Collective: sets the working system, which process 0 has. A single process refers to it. Several
    /// processes distribute its entries, and its pattern only the first time.
    void set_matrix(CscMatrix<T> const& working);
    /// With one process: provides the memory of residuals, so that refine() does not wait for its pages.
    void prepare_residuals();

    /// Collective: sets the verdict on the current factors by FactorExaminer::examine().
    void examine(NumericFactor<T>& factor, Index pivots_replaced, bool may_grow, std::span<Index const> schur,
                 CscMatrix<T> const& working);
    /// Tests factors without supernodes. Their smallest pivot is relative to scaled columns.
    void examine(double smallest_pivot, Index pivots_replaced, CscMatrix<T> const& working);
    /// Forgets what is known of earlier factors. The next ones have `pivots_replaced` replaced pivots.
    void forget_factors(Index pivots_replaced) {
        verdict_ = {pivots_replaced};
        given_needs_steps_ = rows_stay_ = false;
    }
    [[nodiscard]] FactorVerdict<T> const& verdict() const { return verdict_; }
    /// Examines the current factors of the working system.
    [[nodiscard]] FactorExaminer<T> examiner() const;
    /// The bytes on this process for the errors of `columns` columns.
    [[nodiscard]] std::uint64_t error_bytes(Index columns) const {
        return callers_matrix().residual_bytes(columns);
    }
    /// Sets the maximum bytes of vectors for the refinement inside condition estimates; 0 for no limit.
    void limit_vectors(std::uint64_t bytes) { vector_bytes_ = bytes; }

    /// Collective: improves `columns` solutions of op(A) X = B and measures their errors. `b` and `x` have
    /// the owned rows without scaling (SystemVectors). After an exception x is at least as good as before.
    RefineReport refine(std::span<T const> b, std::span<T> x, Index columns, RefineOptions const& options);
    /// The report on solutions of one process that need no refinement, if a single pass over the caller's
    /// matrix shows that and that the matrix has the `pattern` of the factorized one. Otherwise empty. `b`
    /// and `x` are in the layout of the caller. Error{out_of_memory}, {cancelled}.
    std::optional<RefineReport> report_of_given(CscMatrix<T> const& matrix, PatternFingerprint const& pattern,
                                                ScalesOfSystem const& scales, std::span<T const> b,
                                                std::span<T const> x, Index columns,
                                                RefineOptions const& options);
    /// Collective: the largest bound on the forward errors of such solutions, by forward_error_bounds().
    [[nodiscard]] double forward_error(std::span<T const> b, std::span<T const> x, Index columns,
                                       MatrixOp op) const;

    /// Collective: applies espalier::reciprocal_condition() to A.
    [[nodiscard]] ConditionEstimate reciprocal_condition() const;
    /// Collective: applies espalier::null_space() to A. The basis is in owned rows.
    [[nodiscard]] NullSpaceResult<T> null_space(NullSpaceOptions const& options) const;
    /// Collective: block := op(A)^-1 block in owned rows, by the inverse without refinement.
    void apply_inverse(std::span<T> block, Index columns, MatrixOp op) const;

  private:
    [[nodiscard]] bool is_scaled() const { return vectors_.scaling().is_scaled; }
    [[nodiscard]] DistributedMatrix<T> const& callers_matrix() const;
    [[nodiscard]] ApplyInverse<T> inverse_of_working() const;
    [[nodiscard]] ApplyInverse<T> inverse_of_matrix() const;
    [[nodiscard]] ApplyInverse<T> refined_inverse(bool is_checked, bool& converges) const;
    [[nodiscard]] bool wants_digits(RefineOptions const& options) const;
    [[nodiscard]] bool may_be_singular() const;
    [[nodiscard]] bool shows_singularity(std::span<T const> b, std::span<T const> x, Index columns,
                                         MatrixOp op, double backward_error) const;
    [[nodiscard]] bool may_need_no_steps(RefineOptions const& options) const;
    [[nodiscard]] bool reads_given() const;
    std::optional<RefineReport> report_on(BackwardErrors const& errors, RefineOptions const& options,
                                          Timer const& timer);
    std::optional<RefineReport> report_without_steps(std::span<T const> b, std::span<T const> x,
                                                     Index columns, RefineOptions const& options);
    template <class Body> std::vector<T> in_working_scales(std::span<T const> b, std::span<T> x,
                                                           Index columns, MatrixOp op,
                                                           Body const& body) const;
    [[nodiscard]] bool needs_better_rows(double componentwise) const;
    void improve_rows(std::span<T const> b, std::span<T> x, Index columns, RefineOptions const& options,
                      RefineReport& report);
    RefineReport refine_working(std::span<T const> b, std::span<T> x, Index columns,
                                RefineOptions const& options);
    RefineReport refine_scaled(std::span<T const> b, std::span<T> x, Index columns,
                               RefineOptions const& options);

    ProcessContext& context_;
    WorkingInverse<T>& inverse_;
    SystemVectors<T>& vectors_;
    std::optional<DistributedMatrix<T>> working_;
    /// Set when it is first needed, if the system is scaled.
    mutable std::optional<DistributedMatrix<T>> callers_;
    GivenResidual<T> given_;
    bool given_needs_steps_ = false; // known from a solution with these factors
    bool rows_stay_ = false;         // whether such a solution kept its componentwise error
    FactorVerdict<T> verdict_;
    std::uint64_t vector_bytes_ = 0;
};

} // namespace espalier
