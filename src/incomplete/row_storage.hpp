// The rows of L or of U in the order of their sweep. The rows of each worker are contiguous, and the worker
// touches them first.
//
// The blocks of a row are contiguous. There is one exception: real scalars are stored in groups of
// `group_rows` rows if these rows are consecutive in a sweep, have equally many entries and do not depend on
// each other. A group has the first entry of each row, then the second entries, and so on. Sweeps then
// compute the rows of a group at once. A group is packed if the k-th entries of its rows are in consecutive
// columns, for each k, as those of lines of a grid usually are. A sweep then reads one column for all of
// them, and the entries of x without gathering them.
#pragma once

#include "incomplete/execution_order.hpp"
#include "incomplete/sweep_kernels.hpp"
#include "runtime/large_vector.hpp"
#include "runtime/memory.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

template <class T> class RowStorage {
  public:
    RowStorage() = default;

    /// Places the rows lower(i) or upper(i) of a pattern in the order of a forward or of a backward sweep.
    /// Columns are stored as positions. The values have no memory yet. Error{unsupported} for a pattern or a
    /// row beyond the limits below. `is_reread`: the factorization of a row reads earlier rows.
    RowStorage(RowPattern const& pattern, ExecutionOrder const& order, SweepDirection direction,
               int block_size, Allocation allocation, WorkerTeam& team, bool is_reread = false);

    /// Allocates the values, with any contents. Called when the pattern has been freed, whose pages are used
    /// again. They are touched by the calling thread with Allocation::global, by the workers of the rows if
    /// chunks have NUMA nodes, and not at all otherwise.
    void allocate_values(ExecutionOrder const& order, int block_size, Allocation allocation,
                         WorkerTeam& team);

    /// Called when the values have been written. The system may then join small pages in the background.
    void let_pages_be_joined() const {
        for (Arena const* const arena : {&rows_, &columns_, &values_}) choose_pages(arena->bytes(), true);
    }

    static constexpr std::size_t bytes_of_row = 8; ///< Beside columns and values.
    /// Limits on the blocks of a pattern and of a row. Rows of the storage are read in any order during a
    /// factorization, so they are small.
    static constexpr int length_bits = 27;
    static constexpr std::int32_t longest_row = (1 << length_bits) - 1;
    static constexpr Offset most_blocks = (Offset(1) << (63 - length_bits)) - 1;

    [[nodiscard]] BlockRow num_rows() const { return static_cast<BlockRow>(rows_.as<Row>().size()); }
    [[nodiscard]] Offset num_blocks() const { return std::ssize(columns_.as<BlockRow>()); }
    /// First block of the row at a position, in columns() and, times the entries of a block, in values().
    [[nodiscard]] Offset begin(BlockRow position) const { return rows()[position].begin(); }
    [[nodiscard]] std::int32_t length(BlockRow position) const { return rows()[position].length(); }
    /// The distance of a block of the row to the next one, in blocks.
    [[nodiscard]] std::int32_t stride(BlockRow position) const {
        return rows()[position].is_in_group() ? group_rows : 1;
    }
    /// Prefetches what begin(), length() and stride() read.
    [[gnu::always_inline]] inline void prefetch_place(BlockRow position) const {
        __builtin_prefetch(rows() + position);
    }
    [[nodiscard]] BlockRow* columns() const { return columns_.as<BlockRow>().data(); }
    [[nodiscard]] T* values() const { return values_.as<T>().data(); }
    /// The first block of a chunk, whose blocks are contiguous.
    [[nodiscard]] Offset begin_of_chunk(std::int32_t chunk) const { return chunks_[chunk].blocks.first; }
    /// The values of the rows of a chunk; `entries_of_block` for each block.
    [[nodiscard]] std::span<T> values_of(std::int32_t chunk, Index entries_of_block) const {
        IndexRange const blocks = chunks_[chunk].blocks;
        return {values() + blocks.first * entries_of_block,
                static_cast<std::size_t>(blocks.size() * entries_of_block)};
    }
    [[nodiscard]] std::size_t page_bytes() const { return values_.page_bytes(); }
    [[nodiscard]] std::span<std::byte const> bytes() const { return values_.bytes(); }
    [[nodiscard]] std::span<SweepRun const> runs_of(std::int32_t chunk) const {
        Chunk const& of = chunks_[chunk];
        return std::span(runs_[of.worker]).subspan(of.first_run, of.num_runs);
    }
    /// The columns and values of a chunk in the order of its runs. Packed groups have the columns of their
    /// lowest row only.
    [[nodiscard]] SweepCursor<T> cursor_at(std::int32_t chunk, Index entries_of_block) const {
        Chunk const& of = chunks_[chunk];
        BlockRow const* const columns = of.first_packed < 0 ? this->columns() + of.blocks.first
                                                            : packed_[of.worker].data() + of.first_packed;
        return {columns, values() + of.blocks.first * entries_of_block};
    }

    /// The bytes of the columns of packed groups.
    [[nodiscard]] std::uint64_t packed_bytes() const {
        std::size_t columns = 0;
        for (auto const& list : packed_) columns += list.size();
        return columns * sizeof(BlockRow);
    }

  private:
    /// The first block, the number of blocks, and whether the row is in a group.
    class Row {
      public:
        Row(Offset begin, Offset length, bool is_in_group)
            : bits_(static_cast<std::uint64_t>(begin) << (length_bits + 1) |
                    static_cast<std::uint64_t>(length) << 1 | static_cast<std::uint64_t>(is_in_group)) {}
        [[nodiscard]] Offset begin() const { return static_cast<Offset>(bits_ >> (length_bits + 1)); }
        [[nodiscard]] std::int32_t length() const {
            return static_cast<std::int32_t>(bits_ >> 1) & longest_row;
        }
        [[nodiscard]] bool is_in_group() const { return (bits_ & 1) != 0; }

      private:
        std::uint64_t bits_;
    };
    class Placement;

    Offset count_blocks(RowPattern const& pattern, ExecutionOrder const& order, std::int32_t chunk) const;
    void place_chunk(Placement& placement, std::int32_t chunk, ExecutionOrder const& order);
    void pack(std::int32_t chunk, Offset packed);
    void unite_runs(std::int32_t chunk);

    struct Chunk {
        IndexRange blocks;
        WorkerId worker;
        std::int32_t first_run = 0, num_runs = 0;
        Offset first_packed = -1; ///< The first of its columns in packed_; negative if sweeps use columns().
    };
    static_assert(sizeof(Row) == bytes_of_row);
    bool forward_ = true;
    [[nodiscard]] Row* rows() const { return rows_.as<Row>().data(); }

    Arena rows_; ///< By position.
    Arena columns_, values_;
    std::vector<Chunk> chunks_;
    std::vector<LargeVector<SweepRun>> runs_;   ///< By worker.
    std::vector<LargeVector<BlockRow>> packed_; ///< By worker: the columns of chunks with packed groups.
};

} // namespace espalier
