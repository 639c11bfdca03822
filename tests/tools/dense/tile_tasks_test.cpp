// Compares the task graphs with the data of their tasks, and runs in any order and under any policy with the
// sequential run.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "policies/make_policy.hpp"
#include "runtime/support.hpp"
#include "tools/dense/support.hpp"

namespace espalier {

namespace {

std::vector<TaskId> random_topological_order(TaskGraph const& graph, unsigned seed) {
    std::mt19937 random(seed);
    auto unmet = graph.num_predecessors;
    std::vector<TaskId> ready, order;
    for (TaskId t = 0; t < graph.num_tasks(); ++t)
        if (unmet[t] == 0) ready.push_back(t);
    while (!ready.empty()) {
        std::swap(ready[random() % ready.size()], ready.back());
        TaskId const task = ready.back();
        ready.pop_back();
        order.push_back(task);
        for (TaskId const next : graph.successors_of(task))
            if (--unmet[next] == 0) ready.push_back(next);
    }
    return order;
}

} // namespace

TEST(TileTasks, RefuseMoreTasksThanATaskIdCanNumber) {
    for (DenseKind const kind : kinds)
        for (Index const n : {Index{4000}, Index{100'000}, Index{1} << 40, std::numeric_limits<Index>::max()})
            EXPECT_TRUE(throws_error(Status::usage, std::to_string(n), [&] { tasks_of(kind, {n, 1}, 4); }));
}

TEST(TileTasks, OrderExactlyTheTasksOnTheSameData) {
    for (DenseKind const kind : kinds)
        for (std::int32_t const count : {1, 2, 3, 6}) {
            auto const [grid, tasks, graph] = tasks_of(kind, {count * 4 - 1, 4}, 4);
            ASSERT_EQ(static_cast<std::int64_t>(tasks.size()), num_tile_tasks(kind, count));
            auto const n = tasks.size();
            auto const conflict = [&tasks = tasks, count](std::size_t s, std::size_t t) {
                auto const touches = [](auto const& list, std::int32_t d) {
                    return d >= 0 && std::count(list.begin(), list.end(), d);
                };
                TileAccesses const a = accesses(tasks[s], count), b = accesses(tasks[t], count);
                bool found = false;
                for (int x : {0, 1})
                    found = found || touches(a.written, b.written[x]) || touches(a.written, b.read[x]) ||
                            touches(a.read, b.written[x]);
                return found;
            };
            std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n, false));
            for (std::size_t s = n; s-- > 0;)
                for (Offset e = graph.successor_ptr[s]; e < graph.successor_ptr[s + 1]; ++e) {
                    auto const next = static_cast<std::size_t>(graph.successors[e]);
                    ASSERT_LT(s, next);
                    EXPECT_TRUE(conflict(s, next)) << "an edge without a reason";
                    reaches[s][next] = true;
                    for (std::size_t t = 0; t < n; ++t) reaches[s][t] = reaches[s][t] || reaches[next][t];
                }
            for (std::size_t s = 0; s < n; ++s)
                for (std::size_t t = s + 1; t < n; ++t)
                    EXPECT_TRUE(!conflict(s, t) || reaches[s][t]) << s << " and " << t;
        }
}

TEST(TileTasks, HaveTheKnownCriticalPath) {
    for (DenseKind const kind : kinds)
        for (std::int32_t const count : {1, 2, 3, 9}) {
            auto const tasks = tasks_of(kind, {count * 5, 5});
            EXPECT_DOUBLE_EQ(tasks.critical_path(), 3 * count - 2);
            EXPECT_NEAR(tasks.total_cost(), static_cast<double>(num_tile_tasks(kind, count)), 1e-9);
        }
}

TEST(TileTasks, HaveTheTotalCostOfTheFactorization) {
    TileRates rates;
    rates.fill(1);
    for (DenseKind const kind : kinds) // QR has additional terms of order n^2 tile
        EXPECT_NEAR(build_tile_tasks(kind, {1000, 10}, 1, rates).total_cost() / flops(kind, 1000), 1, 0.02);
}

TEST(TileTasks, HaveMoreCandidatesTowardsTheEnd) {
    auto const tasks = tasks_of(DenseKind::qr, {100, 10}, 4);
    auto const ranges = candidate_workers(tasks, PolicyMachine({0, 0, 1, 1}));
    for (std::size_t t = 0; t < ranges.size(); ++t) {
        WorkerId const home = tasks.graph.home[t];
        EXPECT_TRUE(ranges[t].contains(home));
        std::int32_t const rest = 10 - tasks.tasks[t].k;
        EXPECT_EQ(ranges[t].count(), rest >= 4 ? 1 : rest >= 2 ? 2 : 4);
        EXPECT_EQ(ranges[t].first, rest >= 4 ? home : rest >= 2 ? home / 2 * 2 : 0);
    }
    for (WorkerRange const range : candidate_workers(tasks, PolicyMachine({0, 1, 0, 1})))
        EXPECT_NE(range.count(), 2);
}

TEST(TileTasks, AreSpreadOverAllWorkers) {
    for (int const workers : {1, 2, 3, 4, 6, 12}) {
        auto const tasks = tasks_of(DenseKind::cholesky, {480, 10}, workers);
        std::vector<double> work(workers, 0.0);
        for (std::size_t t = 0; t < tasks.tasks.size(); ++t) work[tasks.graph.home[t]] += tasks.graph.cost[t];
        for (double const share : work) EXPECT_NEAR(share * workers / tasks.total_cost(), 1, 0.35) << workers;
    }
}

TEST(TileTasks, GiveTheSameBitsInEveryOrder) {
    for (DenseKind const kind : kinds) {
        TiledMatrix matrix(kind, {90, 16}, 1, Allocation::local);
        auto const tasks = tasks_of(kind, matrix.grid());
        factorize_in_order(matrix, tasks, sequence(tasks));
        auto const expected = entries_of(matrix);
        for (unsigned seed = 0; seed < 20; ++seed) {
            auto const order = random_topological_order(tasks.graph, seed);
            ASSERT_EQ(order.size(), tasks.tasks.size());
            factorize_in_order(matrix, tasks, order);
            ASSERT_EQ(entries_of(matrix), expected) << to_string(kind) << ", seed " << seed;
        }
    }
}

TEST(TileRates, AreMeasuredForTheKernelsThatOccur) {
    for (DenseKind const kind : kinds) {
        auto const rates = measure_rates(kind, 24);
        for (std::size_t k = 0; k < num_tile_kernels; ++k)
            EXPECT_EQ(rates[k] > 1e5, (kind == DenseKind::cholesky) == (k < 4)) << rates[k];
    }
}

TEST(DenseRun, GivesTheSameBitsUnderEveryPolicy) {
    PolicyMachine const nodes({0, 0, 1, 1});
    WorkerTeam team(machine(), 4);
    for (DenseKind const kind : kinds) {
        TileGrid const grid{110, 16};
        TiledMatrix alone(kind, grid, 1, Allocation::local);
        auto const tasks = tasks_of(kind, grid, team.size());
        factorize_in_order(alone, tasks, sequence(tasks));
        auto const expected = entries_of(alone);
        auto const ranges = candidate_workers(tasks, nodes);
        std::vector<std::vector<TaskId>> lists(4);
        for (TaskId const t : sequence(tasks)) lists[tasks.graph.home[t]].push_back(t);
        for (auto const policy_kind : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree,
                                       SchedulePolicy::places, SchedulePolicy::nas})
            for (bool const strict : {false, true}) {
                ScheduleSettings settings;
                settings.schedule = policy_kind;
                settings.strict = strict;
                auto const policy = make_policy(settings, tasks.graph, nodes, {&lists, &ranges});
                TiledMatrix matrix(kind, grid, team.size(), Allocation::local);
                matrix.fill(team);
                auto const stats = factorize_tiles(matrix, tasks, *policy, team);
                EXPECT_EQ(stats.tasks(), tasks.graph.num_tasks());
                EXPECT_EQ(entries_of(matrix), expected) << to_string(kind) << ' ' << to_string(policy_kind);
            }
    }
}

// The thread sanitizer does not see the accesses of LAPACK, but it sees these.
TEST(DenseRun, NeverTouchesATileFromTwoTasksAtOnce) {
    WorkerTeam team(machine(), 4);
    for (DenseKind const kind : kinds) {
        auto const tasks = tasks_of(kind, {80, 8}, team.size());
        std::int32_t const count = tasks.grid.count();
        std::vector<std::int64_t> data(static_cast<std::size_t>(count * (count + 1)), 0), sequential;
        auto const touch = [&](TaskId t, WorkerId) {
            auto const [read, written] = accesses(tasks.tasks[t], count);
            std::int64_t sum = t;
            for (std::int32_t const d : read)
                if (d >= 0) sum += data[d];
            for (std::int32_t const d : written)
                if (d >= 0) data[d] = 3 * data[d] + sum;
        };
        for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t) touch(t, 0);
        sequential.assign(data.size(), 0);
        sequential.swap(data);
        FifoPolicy policy(team.size());
        team.run(tasks.graph, policy, touch);
        EXPECT_EQ(data, sequential);
    }
}

TEST(DenseRun, RecordsEveryTaskWithItsStepAndDependencies) {
    WorkerTeam team(machine(), 2);
    trace::Recorder recorder({});
    team.record(&recorder);
    TiledMatrix matrix(DenseKind::cholesky, {40, 10}, 2, Allocation::global);
    matrix.fill(team);
    auto const tasks = tasks_of(DenseKind::cholesky, matrix.grid(), 2);
    FifoPolicy policy(2);
    factorize_tiles(matrix, tasks, policy, team);
    team.record(nullptr);
    trace::Trace const trace(recorder.collect());
    std::vector<int> seen(tasks.tasks.size(), 0);
    for (trace::State const& state : trace.states())
        if (state.task >= 0) {
            TileTask const& task = tasks.tasks.at(static_cast<std::size_t>(state.task));
            ++seen[state.task];
            EXPECT_EQ(state.level, 3 - task.k);
            EXPECT_EQ(state.cblk, task.j);
        }
    EXPECT_EQ(seen, std::vector<int>(tasks.tasks.size(), 1));
    EXPECT_EQ(trace.dependencies().size(), tasks.graph.successors.size());
}

} // namespace espalier
