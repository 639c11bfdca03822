// Splitting of wide supernodes into pieces, which become cblks. Input: the widths of the supernodes and the
// runs of rows that face them; output: the columns at which each supernode is cut. Cuts are nearly even, and
// placed where they divide few facing runs.
#pragma once

#include <span>
#include <vector>

#include "symbolic/options.hpp"
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

/// Splits supernodes into pieces of options.min_width to options.max_width columns. A supernode narrower than
/// min_width is one piece; if both bounds cannot hold, pieces may be wider than max_width.
Pieces split_supernodes(Supernodes const& supernodes, RowRuns const& runs, SymbolicOptions const& options);

} // namespace espalier
