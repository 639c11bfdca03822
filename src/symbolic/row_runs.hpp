// Dense runs of rows: the rows of a supernode as maximal intervals of the columns of its ancestors. In: the
// sets of vertices that face each supernode. Out: intervals of matrix rows, so this is where the compressed
// graph is left behind.
#pragma once

#include <span>
#include <vector>

#include "symbolic/structure.hpp"

namespace espalier {

struct FacingRun {
    SupernodeId facing = no_supernode;
    Index begin = 0; ///< Rows [begin, end), counted from the first column of the facing supernode.
    Index end = 0;
};

struct RowRuns {
    std::vector<Offset> ptr{0};  ///< One entry a supernode, and one.
    std::vector<FacingRun> runs; ///< Of s, by facing supernode and row: runs[ptr[s] .. ptr[s + 1]).

    [[nodiscard]] std::span<FacingRun const> of(SupernodeId s) const {
        return {runs.data() + ptr[s], runs.data() + ptr[s + 1]};
    }
};

/// first_row[v]: the matrix rows of vertex v begin there, counted from the first column of its supernode.
std::vector<Index> rows_in_supernode(LowerPattern const& pattern, Supernodes const& supernodes);

RowRuns row_runs(LowerPattern const& pattern, Supernodes const& supernodes, FacingSets const& sets);

} // namespace espalier
