// Fan-in blocks: what a process has to give to a cblk of another one, summed up. A block has only the rows
// that the process contributes to (Ashcraft, Eisenstat, Liu 1990; Hénon, Ramet, Roman 2002).
//
//     panel of the target        block of the process
//     +---+                      +---+
//     |   | rows 0..8            | a |  lower: rows x width, column-major
//     | a | rows 8..12           | b |  then, for lu, upper: the rows below the target's diagonal block,
//     |   |                      +---+  rows_below x width
//     | b | rows 20..30
//     +---+
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolic/block_structure.hpp"

namespace espalier {

/// How panels are stored.
struct PanelFormat {
    std::uint32_t scalar_bytes = sizeof(double);
    bool has_upper = false; ///< lu: L and U.
    /// Bytes of so many rows of a panel, `rows_below` of which are below the diagonal block.
    [[nodiscard]] double bytes(Index rows, Index rows_below, Index width) const;
    /// The same, with the diagonal block among the rows if there are enough.
    [[nodiscard]] double bytes(Index rows, Index width) const {
        return bytes(rows, rows > width ? rows - width : 0, width);
    }
};

/// Rows [begin, end) of a panel, which are the rows of a block from `at` on.
struct BlockRows {
    Index begin = 0;
    Index end = 0;
    Index at = 0;
};

struct FanInBlock {
    CblkId target = no_cblk;
    std::int32_t from = 0;    ///< The process that sums,
    std::int32_t to = 0;      ///< and the owner of the target.
    std::int32_t updates = 0; ///< Tasks of `from` that write to it; then it is sent.
    Index rows = 0;
    Index rows_below = 0;        ///< Of these, below the target's diagonal block.
    Offset first_rows = 0;       ///< Where they are, ascending, no two adjacent:
    Offset end_rows = 0;         ///< FanInBlocks::rows[first_rows .. end_rows).
    std::int32_t number = 0;     ///< Among the blocks that `to` receives, from 0 on.
    std::int32_t first_task = 0; ///< Its fan-in tasks, `tasks` in number, of `to`.
    std::int32_t tasks = 0;
    std::int32_t message = 0; ///< The number of its message among the tasks of all processes.
    double priority = 0;      ///< Of the message: its longest path to the end.
};

struct FanInBlocks {
    std::vector<FanInBlock> blocks;
    std::vector<BlockRows> rows;

    [[nodiscard]] std::span<BlockRows const> rows_of(FanInBlock const& block) const {
        return {rows.data() + block.first_rows, rows.data() + block.end_rows};
    }
    /// Of these rows, how many the block has in rows [begin, end) of the panel.
    [[nodiscard]] Index count_within(FanInBlock const& block, Index begin, Index end) const;
};

/// Collects the rows of one block.
class BlockRowsUnion {
  public:
    /// Rows of the matrix that bloks [first, end) have.
    void add(BlockStructure const& structure, BlokId first, BlokId end);
    /// Sets the rows of `block` to the union, which `target` has all, and begins anew. O(r log r + log of the
    /// target's bloks each) for r bloks added.
    void finish(BlockStructure const& structure, FanInBlock& block, std::vector<BlockRows>& rows);

  private:
    struct Interval {
        Index begin, end;
    };
    std::vector<Interval> intervals_; ///< Of rows of the matrix.
};

} // namespace espalier
