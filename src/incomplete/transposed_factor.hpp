// The factors of (L U)^T = U^T L^T by rows, for transposed sweeps of unsymmetric incomplete factors. A sweep
// by rows writes each entry of a vector on one thread, so it runs in parallel and in the execution order of
// the other sweeps: row i of the factorization waits for row j if (i, j) or (j, i) is in the pattern.
#pragma once

#include <cstdint>

#include "incomplete/execution_order.hpp"
#include "incomplete/row_storage.hpp"
#include "runtime/memory.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

template <class T> class TransposedFactor {
  public:
    /// Places the rows of U^T and L^T; the work is shared among the workers of `team`. The arguments must
    /// outlive this. Error{out_of_memory} if memory is short.
    TransposedFactor(ExecutionOrder const& order, RowStorage<T> const& lower, RowStorage<T> const& upper,
                     int block_size, Allocation allocation, WorkerTeam& team);

    /// The bytes of a factor with `blocks` blocks, those of the diagonal included.
    static std::uint64_t bytes(Offset blocks, BlockRow rows, int block_size);

    /// Called when L and U change.
    void mark_old() { is_current_ = false; }
    /// Copies the values of L and U, and the inverse diagonal blocks of U, unless they have been copied since
    /// mark_old().
    void update(T const* inverse);

    /// U^T without its diagonal.
    [[nodiscard]] RowStorage<T> const& lower() const { return transposed_upper_; }
    /// L^T without its unit diagonal.
    [[nodiscard]] RowStorage<T> const& upper() const { return transposed_lower_; }
    /// The inverse diagonal blocks of U^T by position. Scalars are those of U.
    [[nodiscard]] T const* inverse() const { return inverse_; }

  private:
    ExecutionOrder const& order_;
    RowStorage<T> const& lower_;
    RowStorage<T> const& upper_;
    int block_size_;
    WorkerTeam& team_;
    RowStorage<T> transposed_lower_, transposed_upper_;
    Arena inverse_blocks_; ///< Empty for scalars.
    T const* inverse_ = nullptr;
    bool is_current_ = false;
};

} // namespace espalier
