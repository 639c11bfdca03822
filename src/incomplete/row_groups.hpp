// Groups of consecutive rows, and their task graph without that of the rows: the aggregation C(length) or B(length) of
// row_tasks(), in parallel and in a fraction of the time.
#pragma once

#include <cstdint>
#include <vector>

#include "incomplete/row_pattern.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

struct GroupedRows {
    std::vector<BlockRow> row_ptr{0}; ///< Group g has the rows row_ptr[g] .. row_ptr[g + 1] - 1.
    LargeVector<TaskId> group_of;     ///< By row.
    TaskGraph graph;                  ///< This graph is the one that quotient_graph() returns.
};

/// For each row whether it depends on the one before, in a symmetric pattern: row i depends on the rows lower(i).
std::vector<std::uint8_t> rows_that_follow(RowPattern const& dependences, int threads);

/// Whether most rows do, as in lines of a grid.
bool are_lines(std::vector<std::uint8_t> const& follows);

/// Groups of at most `length` rows. A row with follows[i] = 0 begins a new group. The cost of a group is the number of
/// blocks in its rows of `pattern`. Linear; the result does not depend on the number of threads.
GroupedRows group_rows_in_order(RowPattern const& pattern, RowPattern const& dependences,
                              std::vector<std::uint8_t> const& follows, BlockRow length, int threads);

} // namespace espalier
