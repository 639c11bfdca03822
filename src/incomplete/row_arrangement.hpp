// The order of the rows in a chunk. Rows that do not depend on each other are grouped, and among these rows
// of equal length are adjacent, so that sweeps run without stalls and mispredicted branches. Long rows keep
// their order: the time for them is that of reading the entries of the vector, and neighbors in the matrix
// often have the same columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coarsen/aggregation.hpp"
#include "rows/row_pattern.hpp"

namespace espalier {

/// The rows of a chunk are reordered within blocks of this many rows, whose part of a vector fits the cache
/// of a core.
inline constexpr BlockRow rows_per_block = 32768;

/// Whether the rows of a pattern, L and U together, are so long on average that they keep their order.
[[nodiscard]] inline bool has_long_rows(RowPattern const& pattern) {
    constexpr Offset many_blocks = 64;
    return pattern.num_blocks() >= many_blocks * pattern.num_rows;
}

/// Arrays of an ExecutionOrder, to which all threads write.
struct ArrangedRows {
    BlockRow* row_at;
    BlockRow* position_of;
    std::uint8_t* begins_depth; ///< 1 if a row does not have the depth of the row before.
};

/// Sorts the rows of a chunk by their depth in the chunk, then by the lengths of their rows of L and of U,
/// and then by number. Long rows stay in ascending order, and each of them counts as a depth of its own.
/// Each thread has its own object.
class RowArrangement {
  public:
    /// Row i depends on the rows dependences.lower(i) of a symmetric pattern. `aggregate_of` has the
    /// aggregate of each row; if it is empty, all rows are in one aggregate. `depths` has n entries and is
    /// shared by all threads.
    RowArrangement(RowPattern const& pattern, RowPattern const& dependences,
                   std::span<TaskId const> aggregate_of, std::span<std::int32_t> depths)
        : pattern_(pattern), dependences_(dependences), aggregate_of_(aggregate_of), depths_(depths),
          keeps_order_(has_long_rows(pattern)) {}

    /// Arranges at least one and at most rows_per_block rows of an aggregate, given in ascending order, at
    /// the positions from `first` on. Linear.
    void arrange(std::span<BlockRow const> rows, BlockRow first, ArrangedRows const& to);

  private:
    /// The values by which the rows of a chunk are sorted: a depth in 0 .. depths - 1, and so on.
    struct KeyBounds {
        std::int32_t depths = 1, lower_lengths = 1, upper_lengths = 1;
    };
    struct Key {
        std::int32_t depth;
        std::uint8_t lower_length, upper_length;
    };

    KeyBounds find_keys(std::span<BlockRow const> rows);
    template <class ValueOf, class Put>
    void sort_by(std::int64_t values, ValueOf const& value_of, Put const& put);

    RowPattern const& pattern_;
    RowPattern const& dependences_;
    std::span<TaskId const> aggregate_of_;
    std::span<std::int32_t> depths_; ///< By row; valid in the rows that are being arranged.
    bool keeps_order_;
    /// Keys of the rows that are being arranged, in their present order.
    std::vector<Key> keys_, sorted_keys_;
    std::vector<BlockRow> sorted_;
    std::vector<std::int32_t> ends_;
};

} // namespace espalier
