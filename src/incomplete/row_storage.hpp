// The rows of L or of U in the order of their sweep. The rows of each worker are contiguous, and it touches
// them first.
#pragma once

#include "incomplete/execution_order.hpp"
#include "incomplete/sweep_kernels.hpp"
#include "runtime/memory.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

template <class T> class RowStorage {
  public:
    RowStorage() = default;

    /// Places the rows lower(i) or upper(i) of a pattern in the order of a forward or of a backward sweep.
    /// Columns are stored as positions. The values are zero. Their memory is touched by the calling thread with
    /// Allocation::global, by the workers of the rows if chunks have NUMA nodes, and not at all otherwise.
    RowStorage(RowPattern const& pattern, ExecutionOrder const& order, SweepDirection direction,
               int block_size, Allocation allocation, WorkerTeam& team);

    /// First block of the row at a position, in columns() and, times the entries of a block, in values().
    [[nodiscard]] Offset begin(BlockRow position) const { return rows_[position].begin; }
    [[nodiscard]] std::int32_t length(BlockRow position) const { return rows_[position].length; }
    [[nodiscard]] BlockRow* columns() const { return columns_.as<BlockRow>().data(); }
    [[nodiscard]] T* values() const { return values_.as<T>().data(); }
    /// The values of the rows of a chunk, which has rows; `entries_of_block` for each block.
    [[nodiscard]] std::span<T> values_of(ExecutionOrder const& order, std::int32_t chunk, Index entries_of_block) const;
    [[nodiscard]] std::size_t page_bytes() const { return values_.page_bytes(); }
    [[nodiscard]] std::span<std::byte const> bytes() const { return values_.bytes(); }
    [[nodiscard]] std::span<SweepRun const> runs_of(std::int32_t chunk) const {
        return {runs_.data() + run_ptr_[chunk], runs_.data() + run_ptr_[chunk + 1]};
    }

  private:
    void make_runs(ExecutionOrder const& order, SweepDirection direction);

    struct Row {
        Offset begin;
        std::int32_t length;
    };
    std::vector<Row> rows_; ///< By position.
    Arena columns_, values_;
    std::vector<SweepRun> runs_;
    std::vector<Offset> run_ptr_{0}; ///< By chunk.
};

} // namespace espalier
