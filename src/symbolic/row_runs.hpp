// Dense runs of rows: the rows of a supernode as maximal intervals of the columns of its ancestors. Input:
// the sets of vertices of the compressed graph that face each supernode; output: intervals of matrix rows.
#pragma once

#include <span>
#include <vector>

#include "symbolic/structure.hpp"

namespace espalier {

struct FacingRun {
    SupernodeId facing = no_supernode; ///< The supernode that owns the rows as columns.
    Index begin = 0; ///< Rows [begin, end), counted from the first column of the facing supernode.
    Index end = 0;   ///< One past the last row.
};

struct RowRuns {
    std::vector<Offset> ptr{0};  ///< Number of supernodes + 1 entries.
    std::vector<FacingRun> runs; ///< Runs of s by facing supernode and row: runs[ptr[s] .. ptr[s + 1]).

    [[nodiscard]] std::span<FacingRun const> of(SupernodeId s) const {
        return {runs.data() + ptr[s], runs.data() + ptr[s + 1]};
    }
};

RowRuns row_runs(LowerPattern const& pattern, Supernodes const& supernodes, FacingSets const& sets);

} // namespace espalier
