// Columns that cblks leave over for a cblk of another process (delayed_pivoting.hpp). They are sent behind
// the sum in the fan-in block that their process sends for that cblk in any case. A block without such
// columns has the length in the plan. Numbers come first, as Index:
//
//     sum | number of cblks | for each cblk: header, runs, unknowns | for each cblk: S, rows below, U (lu)
//
//     header      the number of columns left over, of rows below, and of runs
//     runs        first row in the sum and height: consecutive rows below that are consecutive in the sum
//     unknowns    of the columns, in the whole matrix
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/block.hpp"
#include "factor/factor.hpp"
#include "factor/update.hpp"
#include "tasks/fan_in.hpp"

namespace espalier {

/// The rows of `child` below its diagonal block, counted from 0, as rows in the panel of its parent, or for a
/// ghost as rows of its fan-in block. Valid until the next use of the workspace.
template <class T> std::span<RowRun const> rows_in_parent(BlockStructure const& structure, CblkId child,
                                                          UpdateWorkspace<T>& workspace);

/// The bytes that append_left_over() adds to a block; 0 if these cblks have left over nothing.
template <class T> std::size_t left_over_bytes(Factor<T> const& factor, std::span<CblkId const> cblks,
                                               UpdateWorkspace<T>& workspace);

/// Appends the columns that these cblks, children of one ghost, have left over to the fan-in block with the
/// sum. `bytes` is left_over_bytes(). Error{out_of_memory}.
template <class T> Block append_left_over(Factor<T> const& factor, std::span<CblkId const> cblks, Block&& sum,
                                          std::size_t bytes, UpdateWorkspace<T>& workspace);

/// Returns the part of a received fan-in block behind a sum of `sum_bytes`.
[[nodiscard]] std::span<std::byte const> after_sum(Block const& block, std::size_t sum_bytes);

/// The columns that cblks of another process have left over for a cblk of this one.
template <class T> class ReceivedColumns {
  public:
    struct Source {               ///< One of these cblks.
        std::vector<RowRun> runs; ///< Its rows below as rows of the panel.
        LeftOver<T> columns;
    };

    /// Copies `part`, the part of a block behind its sum. `rows` are the rows of the sum. Error{internal} if
    /// the part was not made by append_left_over(), {out_of_memory}.
    ReceivedColumns(std::span<std::byte const> part, std::span<BlockRows const> rows, bool has_upper);

    [[nodiscard]] std::vector<Source> const& sources() const { return sources_; }
    [[nodiscard]] std::vector<Index> const& unknowns() const { return unknowns_; }
    /// The number of columns.
    [[nodiscard]] Index count() const { return std::ssize(unknowns_); }
    [[nodiscard]] std::size_t bytes() const { return size_; }

  private:
    std::size_t size_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<Source> sources_;
    std::vector<Index> unknowns_;
};

} // namespace espalier
