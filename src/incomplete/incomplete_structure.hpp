// The parts of an incomplete factorization that do not depend on the type of its entries: the execution
// order, the runs of its chunks, the places of the entries of A, the memory of vectors, and the sizes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/timer.hpp"
#include "incomplete/entry_map.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "incomplete/row_factorization.hpp"
#include "rows/dense_blocks.hpp"
#include "rows/fill_pattern.hpp"

namespace espalier {

/// The type of the entries of a matrix.
struct EntryType {
    std::size_t bytes;
    bool is_complex;
};

class IncompleteStructure {
  public:
    /// Finds the pattern of the factor and the execution order. Errors are those of IncompleteFactor.
    IncompleteStructure(StoredPattern const& a, EntryType type, IncompleteOptions const& options,
                        WorkerTeam& team, Interrupt* interrupt);

    [[nodiscard]] IncompleteSizes const& sizes() const { return sizes_; }
    /// IncompleteFactor::row_of().
    [[nodiscard]] std::vector<Index> row_of() const;

  protected:
    static constexpr int interleaved = 4; ///< Maximum number of right-hand sides of a sweep.

    /// Ends the time that IncompleteSizes::storage_s states, which begins with the end of the constructor.
    void end_storage() { sizes_.storage_s = timer_.seconds() - storage_begin_; }
    /// Maps the entries of A to the rows of the factor, and completes the sizes.
    void map_entries(StoredPattern const& a, IncompleteOptions const& options, Interrupt* interrupt);
    void allocate_inverse();
    /// Ends the time that IncompleteSizes::symbolic_s states.
    void end_symbolic() { sizes_.symbolic_s = timer_.seconds() - sizes_.coarsen_s; }
    /// A dry run of the factorization, in which each chunk writes the values that written(chunk) returns.
    /// Their pages move to the node of the chunk if workers are bound.
    void place_pages(std::size_t page_bytes, std::function<std::span<std::byte>(TaskId)> const& written);
    /// Whether the chunks have NUMA nodes to which pages can be moved.
    [[nodiscard]] bool moves_pages() const { return distributes_ && allocation_ == Allocation::local; }
    /// The inverse diagonal blocks of a chunk.
    [[nodiscard]] std::span<std::byte> inverse_of(TaskId chunk) const;
    /// Bytes of the values of L and U and of the inverse diagonal blocks on each NUMA node.
    [[nodiscard]] std::vector<std::uint64_t> node_bytes(std::span<std::byte const> lower,
                                                        std::span<std::byte const> upper) const;

    /// The memory of each worker for its current row, which is kept between factorizations.
    std::span<Arena> current_rows();
    /// Factorizes all rows; rows[w] does those of worker w. Returns the number of replaced pivots. If
    /// `stops`, ends soon after a row needs a shift, and returns nothing.
    std::optional<Index> factorize_rows(std::vector<std::unique_ptr<RowFactorizer>> const& rows, bool stops,
                                        Interrupt* interrupt);
    /// Error{usage} unless a matrix has as many rows and entries as the one that the constructor got.
    void require_size(Index rows, Offset stored) const;

    [[nodiscard]] Index entries_of_block() const { return Index(sizes_.block_size) * sizes_.block_size; }
    /// Whether elimination changes only the pivots, and the map gives the values of A in the order of the
    /// rows. The factorization then needs no memory for a current row.
    [[nodiscard]] bool finds_only_pivots() const {
        return changes_only_pivots_ && (map_.has_mirrors() || (map_.has_columns() && map_.is_in_order()));
    }
    /// By position, in the numbers of the caller.
    [[nodiscard]] std::span<BlockRow const> source_rows() const {
        return source_row_.empty() ? order_.row_at : source_row_;
    }
    /// Returns memory for `columns` vectors.
    std::span<std::byte> workspace(Index columns);

    /// The number of the first of a run's tasks in the trace, if one is recorded.
    [[nodiscard]] std::int64_t number_tasks(std::int64_t count) const {
        return team_.recorder() ? team_.recorder()->reserve_tasks(count) : 0;
    }
    [[nodiscard]] trace::Scope recorded(WorkerId w, trace::Kind kind, std::int64_t task) const {
        return {team_.track(w), kind, {task, -1, -1}};
    }

    WorkerTeam& team_;
    EntryType type_;
    Index size_;
    Offset stored_;
    IncompleteSizes sizes_;
    Allocation allocation_ = Allocation::local;
    RowPattern pattern_; ///< Until map_entries().
    ExecutionOrder order_;
    std::optional<ChunkRuns> runs_;
    Arena inverse_;
    EntryMap map_;
    /// Whether elimination changes only the pivots (diagonal_elimination.hpp).
    bool changes_only_pivots_ = false;
    std::int32_t longest_row_ = 1; ///< In blocks. Only block rows need it.

  private:
    [[nodiscard]] RowCosts row_costs(IncompleteOptions const& options) const;
    [[nodiscard]] FillLimit fill_limit(IncompleteOptions const& options) const;
    [[nodiscard]] std::uint64_t bytes_of_current_row() const {
        if (finds_only_pivots()) return 0;
        return static_cast<std::uint64_t>(sizes_.num_rows) *
               (sizes_.block_size == 1 ? type_.bytes : sizeof(std::int32_t));
    }
    void find_source_rows(std::span<Index const> positions);
    void find_sizes(RowPattern const& pattern, RowCosts const& costs);

    LargeVector<BlockRow> source_row_; ///< source_rows(), unless they are order_.row_at.
    Timer timer_;                      ///< Measures until end_symbolic().
    double storage_begin_ = 0;
    TeamNodes nodes_;
    bool distributes_ = false;                 ///< Whether the chunks have NUMA nodes.
    std::optional<BlockColumns> whole_blocks_; ///< whole_blocks(), until map_entries().
    std::vector<Arena> current_rows_;          ///< Empty until the first factorization.
    Arena work_;
};

} // namespace espalier
