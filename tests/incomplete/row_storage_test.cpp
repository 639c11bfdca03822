#include "incomplete/row_storage.hpp"

#include <gtest/gtest.h>

#include "rows/fill_pattern.hpp"
#include "solver/generated.hpp"

namespace espalier {
namespace {

RowStorage<double> stored_rows(RowPattern const& pattern, ExecutionOrder const& order,
                               SweepDirection direction) {
    WorkerTeam team(Topology::detect(), 1);
    return {pattern, order, direction, 1, Allocation::local, team};
}

// Sweeps compute the rows of a group at once.
TEST(RowStorage, GroupsRowsThatDoNotDependOnEachOther) {
    auto const pattern = block_pattern(generated<double>("lap3d:6"), 1);
    auto const order = make_execution_order(pattern, 1, one_chunk);
    for (auto const direction : {SweepDirection::forward, SweepDirection::backward}) {
        auto const rows = stored_rows(pattern, order, direction);
        int groups = 0;
        for (BlockRow p = 0; p < pattern.num_rows; ++p) {
            if (rows.stride(p) != group_rows) continue;
            BlockRow const first = p, end = first + group_rows;
            ASSERT_LE(end, pattern.num_rows);
            for (; p < end; ++p) {
                EXPECT_EQ(rows.begin(p), rows.begin(first) + p - first);
                EXPECT_EQ(rows.length(p), rows.length(first));
                for (std::int32_t e = 0; e < rows.length(p); ++e) {
                    BlockRow const column = rows.columns()[rows.begin(p) + Offset(e) * group_rows];
                    EXPECT_FALSE(column >= first && column < end) << p << " needs " << column;
                }
            }
            --p;
            ++groups;
        }
        EXPECT_GT(groups, 0);
    }
}

// The factorization reads them as contiguous entries.
TEST(RowStorage, KeepsLongRowsOutOfGroupsIfTheyAreReread) {
    auto const pattern = fill_pattern(block_pattern(generated<double>("lap3d:12"), 1), 1);
    auto const order = make_execution_order(pattern, 1, one_chunk);
    WorkerTeam team(Topology::synthetic("core:1"), 1, false);
    for (bool const is_reread : {false, true}) {
        RowStorage<double> const rows(pattern, order, SweepDirection::backward, 1, Allocation::local, team,
                                      is_reread);
        std::int32_t longest = 0;
        for (BlockRow p = 0; p < pattern.num_rows; ++p)
            if (rows.stride(p) == group_rows) longest = std::max(longest, rows.length(p));
        EXPECT_EQ(longest > 4, !is_reread);
        EXPECT_GT(longest, 0);
    }
}

// Sweeps read one column for the four rows of a packed group.
TEST(RowStorage, PacksGroupsWithConsecutiveColumns) {
    auto const pattern = block_pattern(generated<double>("lap2d:200"), 1);
    auto const order = make_execution_order(pattern, 1, one_chunk);
    for (auto const direction : {SweepDirection::forward, SweepDirection::backward}) {
        auto const rows = stored_rows(pattern, order, direction);
        BlockRow const* column = rows.cursor_at(0, 1).column;
        Offset at = rows.begin_of_chunk(0), packed = 0;
        for (SweepRun const run : rows.runs_of(0))
            for (Offset k = 0; k < Offset(run.num_rows) * run.blocks_per_row; k += group_rows) {
                for (BlockRow lane = 0; lane < group_rows; ++lane)
                    if (run.is_packed || k + lane < Offset(run.num_rows) * run.blocks_per_row) {
                        EXPECT_EQ(rows.columns()[at++], run.is_packed ? *column + lane : *column++);
                    }
                if (!run.is_packed) continue;
                ++column;
                packed += group_rows;
            }
        EXPECT_GT(2 * packed, pattern.num_blocks() / 2); // most columns of L or U
    }
}

} // namespace
} // namespace espalier
