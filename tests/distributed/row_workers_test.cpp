#include "distributed/row_workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <thread>
#include <vector>

#include "common/failing_threads.hpp"

namespace espalier {
namespace {

RowWorkers workers_of(WorkerTeam& team) {
    return {team.size(), [&team]() -> WorkerTeam& { return team; }};
}

TEST(RowWorkers, ChunksCoverAllRowsOnce) {
    WorkerTeam team(Topology::synthetic("numa:1 core:3 pu:1"), 3, false);
    for (Index const rows :
         {Index(0), Index(1), Index(16'384), Index(16'385), Index(100'000), Index(5'000'000)}) {
        ASSERT_LE(RowWorkers::num_chunks(rows), RowWorkers::most_chunks);
        for (RowWorkers const& workers : {RowWorkers(), workers_of(team)}) {
            std::vector<char> visits(rows);
            std::vector<Index> first(RowWorkers::num_chunks(rows));
            workers.for_each_chunk(rows, [&](int chunk, IndexRange range) {
                first[chunk] = range.first;
                for (Index const i : range) ++visits[i];
            });
            EXPECT_EQ(std::ranges::count(visits, 1), rows);
            EXPECT_TRUE(std::ranges::is_sorted(first));
        }
    }
}

TEST(RowWorkers, SumHasTheSameBitsForAnyNumberOfWorkers) {
    WorkerTeam two(Topology::synthetic("numa:1 core:3 pu:1"), 2, false),
        three(Topology::synthetic("numa:1 core:3 pu:1"), 3, false);
    auto const sum = [](RowWorkers const& workers) {
        return workers.sum<double>(300'000, [](IndexRange rows) {
            double sum = 0;
            for (Index const i : rows) sum += 1 / std::sqrt(1.0 + static_cast<double>(i));
            return sum;
        });
    };
    double const of_one = sum({});
    EXPECT_NEAR(of_one, 2 * std::sqrt(300'000.5) - 1.4603545, 1e-3);
    EXPECT_EQ(sum(workers_of(two)), of_one);
    EXPECT_EQ(sum(workers_of(three)), of_one);
}

TEST(RowWorkers, SeveralWorkersTakePart) {
    WorkerTeam team(Topology::synthetic("numa:1 core:3 pu:1"), 2, false);
    std::atomic<int> here = 0;
    // Each part waits for the other one.
    workers_of(team).run(2, [&](int) {
        ++here;
        while (here < 2) std::this_thread::yield();
    });
    EXPECT_EQ(here, 2);
}

TEST(RowWorkers, CallingThreadRunsAllPartsWithoutATeam) {
    std::vector<int> parts;
    RowWorkers(2, []() -> WorkerTeam& { throw std::bad_alloc(); }).run(3, [&](int part) {
        parts.push_back(part);
    });
    EXPECT_EQ(parts, (std::vector{0, 1, 2}));
}

TEST(RowWorkers, CallingThreadRunsAllPartsIfNoThreadStarts) {
    if (!failing_threads::possible) GTEST_SKIP() << "sanitizers replace pthread_create";
    WorkerTeam team(Topology::synthetic("numa:1 core:3 pu:1"), 3, false);
    failing_threads::keeps_failing = true;
    failing_threads::countdown = 0;
    std::vector<int> parts;
    workers_of(team).run(3, [&](int part) { parts.push_back(part); });
    failing_threads::countdown = -1;
    failing_threads::keeps_failing = false;
    EXPECT_EQ(parts, (std::vector{0, 1, 2}));
}

} // namespace
} // namespace espalier
