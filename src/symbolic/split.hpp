// Splitting of wide supernodes into pieces, the future cblks. In: the widths of the supernodes and the runs
// of rows that face them. Out: for each supernode the columns at which it is cut: as evenly as the bounds
// allow, near each even cut preferring a column at which few facing runs are cut in two.
#pragma once

#include <span>
#include <vector>

#include "symbolic/options.hpp"
#include "symbolic/row_runs.hpp"

namespace espalier {

struct Pieces {
    std::vector<Offset> ptr{0}; ///< One entry a supernode, and one.
    std::vector<Index> ends;    ///< Columns of s at which its pieces end: ends[ptr[s] .. ptr[s + 1]).

    [[nodiscard]] std::span<Index const> of(SupernodeId s) const {
        return {ends.data() + ptr[s], ends.data() + ptr[s + 1]};
    }
    /// The piece of s that holds its column `col`.
    [[nodiscard]] std::int32_t piece_of(SupernodeId s, Index col) const;
};

/// Every piece is at most options.max_width wide and at least options.min_width, unless its whole supernode
/// is narrower or both bounds cannot be kept; then max_width gives way.
Pieces split_supernodes(Supernodes const& supernodes, RowRuns const& runs, SymbolicOptions const& options);

} // namespace espalier
