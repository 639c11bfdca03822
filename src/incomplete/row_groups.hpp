// Groups of consecutive rows, and their task graph without that of the rows: the aggregation C(length) or B(length) of
// row_tasks(), in parallel and in a fraction of the time.
#pragma once

#include <vector>

#include "incomplete/row_pattern.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

struct RowGroups {
    std::vector<BlockRow> row_ptr{0}; ///< Group g has the rows row_ptr[g] .. row_ptr[g + 1] - 1.
    LargeVector<TaskId> group_of;     ///< By row.
    TaskGraph graph;                  ///< As of quotient_graph().
};

/// Whether most rows depend on the row before, as in lines of a grid.
bool has_lines(RowPattern const& pattern);

/// Groups of at most `length` rows. With `continues` a row that does not depend on the one before begins a new group.
/// `dependences` is symmetric: row i depends on the rows dependences.lower(i). The cost of a group is the number of blocks
/// in its rows of `pattern`. Linear; the result does not depend on the number of threads.
RowGroups group_rows_in_order(RowPattern const& pattern, RowPattern const& dependences, bool continues, BlockRow length,
                              int threads);

} // namespace espalier
