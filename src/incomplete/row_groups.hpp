// Groups of consecutive rows and their task graph, computed without the graph of the rows. The result is the
// aggregation C(length) or B(length) of row_tasks(), computed in parallel and in a fraction of the time.
#pragma once

#include <cstdint>
#include <vector>

#include "incomplete/row_pattern.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

struct GroupedRows {
    std::vector<BlockRow> row_ptr{0}; ///< Group g has the rows row_ptr[g] .. row_ptr[g + 1] - 1.
    LargeVector<TaskId> group_of;     ///< By row.
    TaskGraph graph;                  ///< Equal to the graph of quotient_graph().
};

/// For each row, whether it depends on the row before. Row i depends on the rows lower(i) of a symmetric
/// pattern.
std::vector<std::uint8_t> rows_that_follow(RowPattern const& dependences, int threads);

/// Whether most rows depend on the row before, as in lines of a grid.
bool are_lines(std::vector<std::uint8_t> const& follows);

/// Groups of at most `length` rows. A row with follows[i] = 0 begins a new group. The cost of a group is the number of
/// blocks in its rows of `pattern`. Linear; the result does not depend on the number of threads.
GroupedRows group_rows_in_order(RowPattern const& pattern, RowPattern const& dependences,
                              std::vector<std::uint8_t> const& follows, BlockRow length, int threads);

} // namespace espalier
