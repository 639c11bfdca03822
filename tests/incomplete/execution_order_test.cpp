#include "incomplete/execution_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "coarsen/coarse_string.hpp"
#include "common/matrices.hpp"
#include "core/run_threads.hpp"
#include "core/status_of.hpp"

namespace espalier {
namespace {

RowPattern grid_pattern(Index nx, Index ny, Index nz) {
    return block_pattern(matrix_of(nx * ny * nz, Symmetry::symmetric,
                                   [&](Index i, Index j) {
                                       bool const x = i == j + 1 && i % nx != 0;
                                       bool const y = i == j + nx && i / nx % ny != 0;
                                       return i == j || x || y || i == j + nx * ny;
                                   }),
                         1);
}

/// One in `distance` entries is stored.
RowPattern random_pattern(Index n, unsigned seed, unsigned distance = 40) {
    std::mt19937 random(seed);
    return block_pattern(
        matrix_of(n, Symmetry::general, [&](Index i, Index j) { return i == j || random() % distance == 0; }),
        1);
}

/// Every row has one position, and the ranges of workers and chunks cover all positions.
void expect_complete(ExecutionOrder const& order, BlockRow n) {
    ASSERT_EQ(order.num_rows(), n);
    for (BlockRow p = 0; p < n; ++p) ASSERT_EQ(order.position_of[order.row_at[p]], p);
    EXPECT_EQ(order.chunk_ptr.back(), n);
    EXPECT_EQ(std::ssize(order.worker_ptr), order.num_workers + 1);
    EXPECT_EQ(order.worker_ptr.back(), order.num_chunks());
    EXPECT_TRUE(std::is_sorted(order.chunk_ptr.begin(), order.chunk_ptr.end()));
    EXPECT_EQ(std::ssize(order.forward.ptr), order.num_chunks() + 1);
    EXPECT_EQ(std::ssize(order.backward.ptr), order.num_chunks() + 1);
}

/// Runs the chunks with threads. Each row checks, without synchronization, that the rows that it needs are
/// done.
void run_checked(ExecutionOrder const& order, RowPattern const& pattern, SweepDirection direction) {
    TaskGraph const tasks = row_tasks(pattern);
    std::vector<std::vector<TaskId>> needed(tasks.num_tasks());
    for (TaskId task = 0; task < tasks.num_tasks(); ++task)
        for (TaskId const next : tasks.successors_of(task)) {
            if (direction == SweepDirection::forward)
                needed[next].push_back(task);
            else
                needed[task].push_back(next);
        }
    std::vector<int> done(tasks.num_tasks(), 0), missing(order.num_workers, 0);
    ChunkProgress progress(order.num_workers);
    for (int round = 1; round <= 2; ++round) {
        progress.reset();
        run_threads(order.num_workers, [&](int worker) {
            progress.run(order, direction, worker, true, [&](std::int32_t chunk) {
                BlockRow const first = order.chunk_ptr[chunk], end = order.chunk_ptr[chunk + 1];
                for (BlockRow k = 0; k < end - first; ++k) {
                    bool const forward = direction == SweepDirection::forward;
                    BlockRow const row = order.row_at[forward ? first + k : end - 1 - k];
                    for (TaskId const other : needed[row]) missing[worker] += done[other] != round;
                    done[row] = round;
                }
            });
        });
        EXPECT_EQ(missing, std::vector<int>(order.num_workers, 0));
        EXPECT_EQ(done, std::vector<int>(done.size(), round));
    }
}

class OrderOfWorkers : public ::testing::TestWithParam<int> {};

TEST_P(OrderOfWorkers, WaitsForEveryRowThatARowNeeds) {
    for (char const* text : {"", "S", "CD(4)", "H(2)", "W(2)", "W(4)", "D(9)F(3)"})
        for (auto const& pattern : {grid_pattern(9, 7, 5), random_pattern(200, 4)}) {
            auto const order = make_execution_order(pattern, GetParam(), text);
            expect_complete(order, pattern.num_rows);
            run_checked(order, pattern, SweepDirection::forward);
            run_checked(order, pattern, SweepDirection::backward);
        }
}

INSTANTIATE_TEST_SUITE_P(Sizes, OrderOfWorkers, ::testing::Values(1, 2, 4));

/// A line of unknowns, ordered by nested dissection.
RowPattern dissected_line(Index n) {
    std::vector<Index> positions(n);
    Index next = n;
    auto const number = [&](auto const& self, Index first, Index last) -> void {
        if (first == last) return;
        Index const middle = (first + last) / 2;
        positions[middle] = --next;
        self(self, middle + 1, last);
        self(self, first, middle);
    };
    number(number, 0, n);
    return block_pattern(
        matrix_of(n, Symmetry::symmetric, [](Index i, Index j) { return i == j || i == j + 1; }), 1,
        positions);
}

TEST(ExecutionOrder, HasTheGroupsOfItsCoarseString) {
    EXPECT_TRUE(fast_string(dissected_line(5000), 2).starts_with("T(19)G(2)"));
    for (auto const& pattern :
         {grid_pattern(40, 9, 7), grid_pattern(3, 1, 70), random_pattern(300, 8), dissected_line(5000)})
        for (int const workers : {2, 3}) {
            auto const order = make_execution_order(pattern, workers);
            auto const other = make_execution_order(pattern, workers, fast_string(pattern, workers));
            EXPECT_EQ(order.coarse_string, other.coarse_string);
            EXPECT_EQ(order.row_at, other.row_at);
            EXPECT_EQ(order.chunk_ptr, other.chunk_ptr);
            EXPECT_EQ(order.worker_ptr, other.worker_ptr);
            EXPECT_EQ(order.tasks.successors, other.tasks.successors);
            EXPECT_EQ(order.tasks.cost, other.tasks.cost);
        }
}

TEST(ExecutionOrder, GivesEachWorkerItsPartOfAPipeline) {
    for (auto const& pattern : {grid_pattern(5, 12, 30), grid_pattern(12, 200, 1), grid_pattern(7, 7, 9)})
        for (int const workers : {2, 4}) {
            ASSERT_TRUE(has_pipeline(pattern, workers));
            auto const order = make_execution_order(pattern, workers, pipeline_string(workers));
            expect_complete(order, pattern.num_rows);
            EXPECT_EQ(order.coarse_string, pipeline_string(workers));
            auto const aggregate_of = coarsen(row_tasks(pattern), order.coarse_string).aggregate_of;
            std::vector<std::set<TaskId>> parts(workers);
            for (WorkerId w = 0; w < workers; ++w)
                for (std::int32_t c = order.worker_ptr[w]; c < order.worker_ptr[w + 1]; ++c) {
                    std::set<TaskId> aggregates;
                    for (BlockRow p = order.chunk_ptr[c]; p < order.chunk_ptr[c + 1]; ++p)
                        aggregates.insert(aggregate_of[order.row_at[p]]);
                    ASSERT_EQ(aggregates.size(), 1u); // chunks are those of the operator
                    parts[w].insert(*aggregates.begin() % workers);
                }
            for (auto const& of_worker : parts) EXPECT_EQ(of_worker.size(), 1u);
        }
    EXPECT_FALSE(has_pipeline(dissected_line(5000), 2));
    EXPECT_FALSE(has_pipeline(random_pattern(300, 8), 2));
}

// Row 2 follows row 0 and row 1, which ends later because it is longer. Row 3 follows row 1.
TEST(ExecutionOrder, PrefersTheWorkerOfTheLowestPredecessor) {
    auto const pattern = block_pattern(matrix_from<double>(Symmetry::symmetric, {{1, 0, 0, 0}, //
                                                                                 {0, 1, 0, 0}, //
                                                                                 {1, 1, 1, 0}, //
                                                                                 {0, 1, 0, 1}}),
                                       1);
    auto const order = make_execution_order(pattern, 2, "none");
    auto const worker_of = [&](BlockRow row) {
        return order.position_of[row] < order.chunk_ptr[order.worker_ptr[1]] ? 0 : 1;
    };
    EXPECT_NE(worker_of(0), worker_of(1));
    EXPECT_EQ(worker_of(2), worker_of(0));
    EXPECT_EQ(worker_of(3), worker_of(1));
}

TEST(ExecutionOrder, OneWorkerNeverWaits) {
    auto const order = make_execution_order(grid_pattern(6, 6, 6), 1, "D(5)");
    EXPECT_TRUE(order.forward.waits.empty());
    EXPECT_TRUE(order.backward.waits.empty());
    EXPECT_EQ(make_execution_order(grid_pattern(6, 6, 6), 1).num_chunks(), 1);
}

TEST(ExecutionOrder, PutsRowsOfEqualLengthThatAreIndependentTogether) {
    auto const pattern = grid_pattern(4, 4, 1);
    auto const order = make_execution_order(pattern, 1);
    // The order follows the diagonals of the grid. In each, rows with one block come before rows with two.
    EXPECT_EQ(order.row_at, (LargeVector<BlockRow>{0, 1, 4, 2, 8, 5, 3, 12, 6, 9, 7, 13, 10, 11, 14, 15}));
}

TEST(ExecutionOrder, LeavesLongRowsInAscendingOrder) {
    auto const is_ascending = [](RowPattern const& pattern) {
        auto const order = make_execution_order(pattern, 1);
        return std::is_sorted(order.row_at.begin(), order.row_at.end());
    };
    EXPECT_FALSE(is_ascending(random_pattern(600, 1, 40)));
    EXPECT_TRUE(is_ascending(random_pattern(600, 1, 8)));
}

TEST(ExecutionOrder, LeavesOutWaitsThatOthersImply) {
    // The lines of a grid each depend on the line before. Each wait of a worker implies its older ones.
    auto const pattern = grid_pattern(8, 12, 1);
    auto const order = make_execution_order(pattern, 2, "F(2)");
    EXPECT_LT(std::ssize(order.forward.waits), order.coarse_edges);
    for (std::int32_t c = 0; c < order.num_chunks(); ++c) EXPECT_LE(order.forward.before(c).size(), 1u);
}

TEST(ExecutionOrder, AcceptsAnEmptyMatrix) {
    auto const order = make_execution_order(block_pattern(CscMatrix<double>{}, 1), 2);
    expect_complete(order, 0);
}

TEST(ExecutionOrder, RefusesABadCoarseString) {
    EXPECT_TRUE(throws_error(Status::usage, "position 2",
                             [] { (void)make_execution_order(grid_pattern(2, 2, 1), 2, "SQ"); }));
}

TEST(ExecutionOrder, CanBeCancelled) {
    for (char const* text : {"", "none", "one", "S", "CD(4)", "H(2)", "G(2)"}) {
        Interrupt at_once([] { return true; });
        EXPECT_EQ(
            status_of([&] { (void)make_execution_order(grid_pattern(6, 6, 6), 2, text, {}, &at_once); }),
            Status::cancelled);
    }
}

} // namespace
} // namespace espalier
