// Splitting of wide supernodes into pieces, which become cblks. Input: the widths of the supernodes, bounds
// for the pieces of each, and the runs of rows that face them; output: the columns at which each supernode is
// cut. Cuts are nearly even, and placed where they divide few facing runs.
#pragma once

#include <span>
#include <vector>

#include "symbolic/piece_widths.hpp"
#include "symbolic/row_runs.hpp"

namespace espalier {

struct Pieces {
    std::vector<Offset> ptr{0}; ///< Number of supernodes + 1 entries.
    std::vector<Index> ends;    ///< The columns of s at which its pieces end: ends[ptr[s] .. ptr[s + 1]).

    [[nodiscard]] std::span<Index const> of(SupernodeId s) const {
        return {ends.data() + ptr[s], ends.data() + ptr[s + 1]};
    }
    /// The piece of s that contains its column `col`.
    [[nodiscard]] std::int32_t piece_of(SupernodeId s, Index col) const;
};

/// Splits each supernode into pieces within its bounds. A supernode narrower than the lower bound is one
/// piece; if both bounds cannot hold, pieces may be wider than the upper bound.
Pieces split_supernodes(Supernodes const& supernodes, RowRuns const& runs,
                        std::vector<PieceWidths> const& widths);

} // namespace espalier
