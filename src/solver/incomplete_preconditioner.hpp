// The incomplete factorization of a working system, as preconditioner of a Krylov method. The analysis finds
// its pattern and its execution order, the values of a matrix give its numbers, and solves apply it. Every
// process of a group has one, and all make the same calls.
//
// Several processes factorize the diagonal blocks of their rows and of an overlap of one level
// (distributed/overlapping_block.hpp). The sum of their inverses B_p^-1 is the preconditioner: with R_p,
// which takes the rows of block p, and R0_p, which takes its owned rows and sets the others to zero,
//
//     sum R_p^T B_p^-1 R_p     for Hermitian positive definite factors (additive Schwarz)
//     sum R0_p^T B_p^-1 R_p    for others (restricted additive Schwarz)
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"
#include "distributed/overlapping_block.hpp"
#include "espalier/report.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "solver/process_context.hpp"
#include "solver/working_inverse.hpp"

namespace espalier {

template <class T> class IncompletePreconditioner : public WorkingInverse<T> {
  public:
    /// `context` must outlive this.
    explicit IncompletePreconditioner(ProcessContext& context) : context_(context) {}

    /// Collective: finds the pattern of the factor and its execution order for the workers of each process.
    /// Process 0 passes the working system. Returns the rows that each process owns. Errors of the
    /// constructor of IncompleteFactor, on all processes.
    DistributedRows prepare(CscMatrix<T> const& working, IncompleteOptions const& options);
    /// Drops the factor. Not collective.
    void clear();

    /// Collective: factorizes the working system of process 0, which has the pattern of prepare(). Returns
    /// the number of replaced pivots of all processes, and their largest shift and number of restarts.
    IncompletePivots factorize(CscMatrix<T> const& working, PivotDemand const& pivots);

    void solve(std::span<T> block, Index columns, MatrixOp op) override;
    [[nodiscard]] InverseAccuracy accuracy() const override {
        return positive_ ? InverseAccuracy::incomplete_positive : InverseAccuracy::incomplete;
    }

    /// The bytes that each process needs beside those of AnalysisReport::memory_bytes_of_process if the next
    /// solve has this `op`, or because an earlier one was transposed. Known after fill() of an
    /// AnalysisReport.
    [[nodiscard]] std::span<std::int64_t const> further_bytes(MatrixOp op) const {
        if (!is_transposed_ && op == MatrixOp::none) return {};
        return transposed_bytes_;
    }

    /// Collective: sets the fields that prepare(), factorize() and solve() determine. Process 0 gets the sums
    /// of the sizes of all processes, and their largest times.
    void fill(IncompleteReport& report) const;
    /// Collective: sets sizes and predictions in the report of the analysis.
    void fill(AnalysisReport& report);

  private:
    DistributedRows prepare_together(CscMatrix<T> const& working, IncompleteOptions const& options);
    void solve_together(std::span<T> block, Index columns, MatrixOp op);

    ProcessContext& context_;
    std::optional<OverlappingBlock<T>> block_; // used with several processes
    std::optional<IncompleteFactor<T>> factor_;
    TaskRuntime runtime_ = TaskRuntime::espalier;
    bool positive_ = false;
    bool is_transposed_ = false; ///< Whether the factor has been copied for transposed solves.
    std::vector<std::int64_t> transposed_bytes_; ///< IncompleteSizes::transposed_bytes of all processes.
    IncompletePivots pivots_;                    ///< The pivots of all processes.
    std::vector<std::uint64_t> node_bytes_;      ///< Set by the factorization.
    double factor_s_ = 0;
    double solve_s_ = 0;       ///< Time of all applications since the factorization.
    Index vectors_solved_ = 0; ///< Number of vectors in these applications.
};

} // namespace espalier
