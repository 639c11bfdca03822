// Fan-in blocks: the sum of the contributions of one process to a cblk of another one, or to a group of its
// rows if the cblk is cut. A block has only the rows that the process contributes to (Ashcraft, Eisenstat,
// Liu 1990; Hénon, Ramet, Roman 2002).
//
//     panel of the target        block of the process
//     +---+                      +---+
//     |   | rows 0..8            | a |  lower: rows x width, column-major
//     | a | rows 8..12           | b |  then, for lu, upper: the rows below the diagonal block of the target,
//     |   |                      +---+  rows_below x width
//     | b | rows 20..30
//     +---+
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "symbolic/block_structure.hpp"

namespace espalier {

/// The storage format of panels.
struct PanelFormat {
    std::uint32_t scalar_bytes = sizeof(double);
    bool has_upper = false; ///< lu: both L and U are stored.
    /// Bytes of `rows` rows of a panel, `rows_below` of which are below the diagonal block.
    [[nodiscard]] double bytes(Index rows, Index rows_below, Index width) const {
        Index const upper = has_upper ? rows_below : 0;
        return static_cast<double>(rows + upper) * static_cast<double>(width) * scalar_bytes;
    }

    /// Bytes of `rows` rows that include the diagonal block, if there are enough.
    [[nodiscard]] double bytes(Index rows, Index width) const {
        return bytes(rows, rows > width ? rows - width : 0, width);
    }
};

/// Rows [begin, end) of a panel, which are rows at, at + 1, ... of a block.
struct BlockRows {
    Index begin = 0;
    Index end = 0;
    Index at = 0;
};

struct FanInBlock {
    CblkId target = no_cblk;
    std::int32_t from = 0;    ///< The process that computes the sum.
    std::int32_t to = 0;      ///< The owner of the target.
    std::int32_t updates = 0; ///< Number of tasks of `from` that write to the block; then it is sent.
    Index rows = 0;
    Index rows_below = 0; ///< The number of rows below the diagonal block of the target.
    Index at = 0; ///< The number of rows above these in the sum of the process; other blocks have them.
    Offset first_rows = 0;        ///< The rows, in ascending runs of which no two are adjacent:
    Offset end_rows = 0;          ///< FanInBlocks::rows[first_rows .. end_rows).
    std::int32_t number = 0;      ///< Its number among the blocks that `to` receives.
    std::int32_t fan_in_task = 0; ///< It adds the block, in process `to`.
    std::int32_t message = 0;     ///< The number of its message among the tasks of all processes.
    double priority = 0;          ///< The longest path from the message to the end.
};

struct FanInBlocks {
    std::vector<FanInBlock> blocks;
    std::vector<BlockRows> rows;

    [[nodiscard]] std::span<BlockRows const> rows_of(FanInBlock const& block) const {
        return {rows.data() + block.first_rows, rows.data() + block.end_rows};
    }

    /// Sets the rows of `block` to those of `all` within [begin, end) of the panel, whose diagonal block has
    /// `width` rows. `all` is numbered from 0 and ascends.
    void set_rows(FanInBlock& block, std::span<BlockRows const> all, Index begin, Index end, Index width) {
        block.rows = block.rows_below = 0;
        block.first_rows = std::ssize(rows);
        for (BlockRows const& run : all) {
            Index const first = std::max(run.begin, begin), last = std::min(run.end, end);
            if (first >= last) continue;
            if (block.rows == 0) block.at = run.at + (first - run.begin);
            rows.push_back({first, last, block.rows});
            block.rows += last - first;
            block.rows_below += std::max<Index>(0, last - std::max(first, width));
        }
        block.end_rows = std::ssize(rows);
    }

    /// The number of rows of the block among rows [begin, end) of the panel.
    [[nodiscard]] Index count_within(FanInBlock const& block, Index begin, Index end) const {
        Index count = 0;
        for (BlockRows const& run : rows_of(block))
            count += std::max<Index>(0, std::min(end, run.end) - std::max(begin, run.begin));
        return count;
    }
};

/// Collects the rows of one block.
class BlockRowsUnion {
  public:
    /// Adds the rows of bloks [first, end).
    void add(BlockStructure const& structure, BlokId first, BlokId end) {
        for (BlokId b = first; b < end; ++b) {
            Blok const& blok = structure.bloks[b];
            if (!intervals_.empty() && intervals_.back().end == blok.first_row)
                intervals_.back().end = blok.end_row;
            else
                intervals_.push_back({blok.first_row, blok.end_row});
        }
    }

    /// Appends the union, all of whose rows the target has, to `rows`, sets the rows of `block` to it, and
    /// clears the union. O(r (log r + log t)) for r bloks and a target of t bloks.
    void finish(BlockStructure const& structure, FanInBlock& block, std::vector<BlockRows>& rows) {
        std::sort(intervals_.begin(), intervals_.end(),
                  [](Interval const& a, Interval const& b) { return a.begin < b.begin; });
        Cblk const& target = structure.cblks[block.target];
        block.rows = 0;
        block.first_rows = block.end_rows = static_cast<Offset>(rows.size());
        auto const take = [&](Index begin, Index end) { // rows of the panel
            if (block.end_rows > block.first_rows && rows.back().end == begin) {
                rows.back().end = end;
            } else {
                rows.push_back({begin, end, block.rows});
                ++block.end_rows;
            }
            block.rows += end - begin;
        };
        auto const bloks = structure.bloks.begin();
        auto at = bloks + target.first_blok;
        auto const end = bloks + target.end_blok;
        Index done = 0; // rows of the matrix before this one are taken
        for (Interval const& interval : intervals_)
            for (Index row = std::max(done, interval.begin); row < interval.end;) {
                at = std::partition_point(at, end, [&](Blok const& b) { return b.end_row <= row; });
                Index const to = std::min(interval.end, at->end_row);
                take(at->panel_row + (row - at->first_row), at->panel_row + (to - at->first_row));
                row = done = to;
            }
        block.rows_below = 0;
        for (Offset r = block.first_rows; r < block.end_rows; ++r) {
            BlockRows const& run = rows[r];
            block.rows_below += std::max<Index>(0, run.end - std::max(run.begin, target.width()));
        }
        intervals_.clear();
    }

  private:
    struct Interval {
        Index begin, end;
    };
    std::vector<Interval> intervals_; ///< Rows of the matrix.
};

} // namespace espalier
