// The factorization of a matrix with general storage without supernodes, in one process: its plan, its
// numbers, and its solves. It factorizes the caller's matrix itself, and has its own scales and permutations.
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"
#include "espalier/matrix.hpp"
#include "scalar_lu/scalar_lu.hpp"
#include "solver/process_context.hpp"
#include "solver/working_inverse.hpp"

namespace espalier {

template <class T> class ScalarFactor : public WorkingInverse<T> {
  public:
    /// `context` must outlive this.
    explicit ScalarFactor(ProcessContext& context) : context_(context) {}

    /// Stores the pattern of `matrix`, for which `plan` was made. `plan` must outlive its use. Returns the
    /// owned rows, which are all.
    DistributedRows prepare(CscMatrix<T> const& matrix, ScalarPlan const& plan);
    void clear();

    /// Error{usage} unless the matrix has the pattern of the plan; Error{bad_input} for values that are not
    /// finite. Takes a small part of the time of a refactorization, and allocates nothing.
    void check(CscMatrix<T> const& matrix) const;

    /// Factorizes a checked matrix: with the pivots of the last factorization if these are still good, and
    /// otherwise with new ones. Pivots below `threshold`, relative to the largest entry of a scaled row or
    /// column, are replaced; negative: 32 epsilon. `max_bytes` as in ScalarLuOptions. Returns whether the
    /// pivots were reused. Errors as ScalarLu::factorize().
    bool factorize(CscMatrix<T> const& matrix, double threshold, std::uint64_t max_bytes);

    void solve(std::span<T> block, Index columns, MatrixOp op) override;
    [[nodiscard]] InverseAccuracy accuracy() const override { return InverseAccuracy::full; }
    [[nodiscard]] ScalarLu<T> const& factors() const { return lu_; }

  private:
    ProcessContext& context_;
    std::vector<Offset> col_ptr_; ///< These arrays are the pattern.
    std::vector<Index> row_ind_;
    ScalarLu<T> lu_;
};

} // namespace espalier
