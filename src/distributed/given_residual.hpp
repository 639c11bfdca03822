// The backward errors of a solution in a single pass over the matrix of the caller, which checks its pattern
// at the same time. It serves one process.
#pragma once

#include <optional>
#include <span>

#include "distributed/backward_error.hpp"
#include "distributed/row_workers.hpp"
#include "matrix/pattern_fingerprint.hpp"
#include "runtime/workspace.hpp"

namespace espalier {

/// The scales R and C of a scaled system R A C y = R b with x = C y; empty: ones.
struct ScalesOfSystem {
    std::span<double const> rows, columns;
};

template <class T> class GivenResidual {
  public:
    /// The bytes of prepare().
    static std::uint64_t bytes(Index rows, Offset stored, int workers);
    /// Provides the memory of errors(), so that the first call does not wait for its pages.
    /// Error{out_of_memory}.
    void prepare(Index rows, Offset stored, RowWorkers const& workers);
    /// Returns the memory.
    void release() { rows_ = Workspace(); }

    /// The errors of x, one column, as a solution of op(A) x = b. `before_unscaling` is the normwise error of
    /// the scaled system, or a bound of it. Infinite or NaN if a number is not finite or an intermediate
    /// result overflows. Empty if the matrix has another pattern; a null `pattern` is not checked again.
    /// Error{out_of_memory}.
    [[nodiscard]] std::optional<BackwardErrors>
    errors(CscMatrix<T> const& a, PatternFingerprint const* pattern, ScalesOfSystem const& scales,
           std::span<T const> x, std::span<T const> b, MatrixOp op, RowWorkers const& workers);

  private:
    Workspace rows_;
};

} // namespace espalier
