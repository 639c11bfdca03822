// Groups of consecutive rows and their task graph, computed without the graph of the rows. The result is the
// aggregation C(length) or T(largest) of row_tasks(), computed in parallel and in a fraction of the time.
#pragma once

#include <vector>

#include "policies/task_graph.hpp"
#include "rows/row_pattern.hpp"

namespace espalier {

struct GroupedRows {
    std::vector<BlockRow> row_ptr{0}; ///< Group g has the rows row_ptr[g] .. row_ptr[g + 1] - 1.
    LargeVector<TaskId> group_of;     ///< By row.
    TaskGraph graph;                  ///< Equal to the graph of quotient_graph().
};

/// Whether most rows depend on one of the `reach` rows before, as in lines of a grid. Row i depends on the
/// rows lower(i) of a symmetric pattern. Examines a regular sample of the rows.
bool are_lines(RowPattern const& dependences, BlockRow reach = 1);

/// Lines of at most `length` rows, each of which depends on the row before. Returns GroupedRows::row_ptr.
std::vector<BlockRow> lines_of_rows(RowPattern const& dependences, BlockRow length, int threads);

/// The aggregates of T(largest) (operators.hpp), as GroupedRows::row_ptr.
std::vector<BlockRow> trees_of_rows(RowPattern const& dependences, Index largest, int threads);

/// The groups with these rows, and their graph. The cost of a group is the number of blocks in its rows of
/// `pattern`. Linear; the result does not depend on the number of threads.
GroupedRows connect_groups(RowPattern const& pattern, RowPattern const& dependences,
                           std::vector<BlockRow> row_ptr, int threads);

} // namespace espalier
