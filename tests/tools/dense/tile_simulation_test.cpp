// Simulated factorizations of tiled matrices: owners, times worked by hand, and the rules of the policies.
#include "tools/dense/tile_simulation.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "support.hpp"

namespace espalier {
namespace {

// Remote memory takes `factor` times as long.
MachineModel machine_of(int nodes, int threads_of_node, double factor = 1) {
    MachineModel machine;
    machine.threads = nodes * threads_of_node;
    for (int t = 0; t < machine.threads; ++t) machine.node_of_thread.push_back(t / threads_of_node);
    for (int i = 0; i < nodes; ++i)
        for (int j = 0; j < nodes; ++j) machine.memory.factors.push_back(i == j ? 1 : factor);
    machine.memory.node_bandwidth = 1e18;
    return machine;
}

ScheduleSettings places(PushInit init, PushStrategy push = PushStrategy::numa_w,
                        SelectStrategy select = SelectStrategy::proc_numa, bool strict = false) {
    ScheduleSettings settings;
    settings.schedule = SchedulePolicy::places;
    settings.push_init = init;
    settings.push = push;
    settings.select = select;
    settings.strict = strict;
    return settings;
}

SimulatedTiles run(DenseKind kind, TileGrid const& grid, MachineModel const& machine,
                   ScheduleSettings const& settings) {
    PolicyMachine const nodes(machine.node_of_thread);
    TileOwners const owners = tile_owners(kind, grid, nodes, settings);
    auto const tasks = build_tile_tasks(kind, grid, owners, unit_rates(static_cast<double>(grid.tile)));
    return simulate_tiles(tasks, owners, machine, 1e18, settings);
}

TEST(TileOwners, DistributeTilesToNodesInTurn) {
    PolicyMachine const machine({0, 0, 1, 1, 2, 2});
    TileGrid const grid{50, 10};
    TileOwners const cholesky(DenseKind::cholesky, grid, machine, PushInit::cyclicnuma, 0);
    int number = 0;
    for (std::int32_t i = 0; i < 5; ++i)
        for (std::int32_t j = 0; j <= i; ++j, ++number) {
            EXPECT_EQ(machine.node_of(cholesky.of(i, j)), number % 3);
            EXPECT_EQ(machine.place_of(cholesky.of(i, j)), number / 3 % 2);
        }
    TileOwners const qr(DenseKind::qr, grid, machine, PushInit::cyclicnuma, 0);
    EXPECT_EQ(machine.node_of(qr.of(2, 3)), 13 % 3);
    EXPECT_EQ(qr.num_workers(), 6);
}

TEST(TileOwners, DistributeTilesToNodesAtRandom) {
    PolicyMachine const machine({0, 0, 1, 1, 2, 2});
    TileGrid const grid{600, 10};
    TileOwners const one(DenseKind::qr, grid, machine, PushInit::randnuma, 1);
    TileOwners const same(DenseKind::qr, grid, machine, PushInit::randnuma, 1);
    TileOwners const other(DenseKind::qr, grid, machine, PushInit::randnuma, 2);
    std::map<WorkerId, int> tiles;
    int different = 0;
    for (std::int32_t i = 0; i < 60; ++i)
        for (std::int32_t j = 0; j < 60; ++j) {
            EXPECT_EQ(one.of(i, j), same.of(i, j));
            different += one.of(i, j) != other.of(i, j);
            ++tiles[one.of(i, j)];
        }
    EXPECT_GT(different, 1800);
    ASSERT_EQ(tiles.size(), 6u);
    for (auto const& [worker, count] : tiles) EXPECT_NEAR(count, 600, 100) << worker;
}

TEST(TileClock, WorksTasksByHand) {
    // Six tiles of 10 x 10, on two nodes in turn: (0,0), (1,1) and (2,1) on node 0, the others on node 1.
    MachineModel const machine = machine_of(2, 1, 3);
    TileGrid const grid{30, 10};
    ScheduleSettings const settings = places(PushInit::cyclicnuma);
    TileOwners const owners = tile_owners(DenseKind::cholesky, grid, PolicyMachine({0, 1}), settings);
    auto const tasks = build_tile_tasks(DenseKind::cholesky, grid, owners, unit_rates(10));
    auto const number_of = [&](TileKernel kernel, std::int32_t i, std::int32_t j) {
        for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t)
            if (auto const& one = tasks.tasks[t]; one.kernel == kernel && one.i == i && one.j == j) return t;
        return no_task;
    };
    TileClock local(tasks, owners, machine, 1e18, Allocation::local);
    EXPECT_DOUBLE_EQ(local.begin(number_of(TileKernel::potrf, 0, 0), 0, 0), 1);
    local.end(0, 0);
    EXPECT_DOUBLE_EQ(local.begin(number_of(TileKernel::potrf, 0, 0), 1, 0), 3);
    local.end(0, 1);
    // Reads half of (0,0) on node 0, writes all of (1,0) on node 1.
    EXPECT_DOUBLE_EQ(local.begin(number_of(TileKernel::trsm, 1, 0), 1, 0), (1 * 3 + 2 * 1) / 3.0);
    local.end(0, 1);
    // Reads (2,0) and (1,0) on node 1, writes (2,1) on node 0.
    EXPECT_DOUBLE_EQ(local.begin(number_of(TileKernel::gemm, 2, 1), 0, 0), (3 + 3 + 1) / 3.0);
    local.end(0, 0);
    EXPECT_DOUBLE_EQ(local.touched().all, 8 * (50 + 50 + 150 + 300));
    EXPECT_DOUBLE_EQ(local.touched().local, 8 * (50 + 0 + 100 + 100));

    TileClock interleave(tasks, owners, machine, 1e18, Allocation::interleave);
    EXPECT_DOUBLE_EQ(interleave.begin(number_of(TileKernel::potrf, 0, 0), 1, 0), 2);
    TileClock global(tasks, owners, machine, 1e18, Allocation::global);
    EXPECT_DOUBLE_EQ(global.begin(number_of(TileKernel::gemm, 2, 1), 1, 0), 3);
}

TEST(TileClock, KnowsReflectionsAndTheTileAboveThem) {
    MachineModel const machine = machine_of(2, 1, 3);
    TileGrid const grid{20, 10};
    ScheduleSettings const settings = places(PushInit::cyclicnuma); // (0,0) (1,0) on node 0
    TileOwners const owners = tile_owners(DenseKind::qr, grid, PolicyMachine({0, 1}), settings);
    auto const tasks = build_tile_tasks(DenseKind::qr, grid, owners, unit_rates(10));
    TileClock clock(tasks, owners, machine, 1e18, Allocation::local);
    double const expected[] = {
        3,                    // geqrt (0,0): both triangles
        (1 * 3 + 2 * 1) / 3., // unmqr: reads reflections of (0,0), writes (0,1) on node 1
        3,                    // tsqrt: writes R of (0,0), and (1,0)
        (3 + 1 + 1) / 3.,     // tsmqr: reads (1,0), writes (0,1) and (1,1)
    };
    for (TaskId t = 0; t < 4; ++t) {
        EXPECT_DOUBLE_EQ(clock.begin(t, 1, 0), expected[t]) << to_string(tasks.tasks[t].kernel);
        clock.end(t, 1);
    }
    EXPECT_DOUBLE_EQ(clock.touched().all, 8 * (100 + 150 + 150 + 300));
}

TEST(SimulatedTiles, RunEveryTaskOnceAfterItsPredecessors) {
    MachineModel const machine = machine_of(3, 2, 2);
    TileGrid const grid{70, 10};
    for (DenseKind const kind : kinds)
        for (auto const policy : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree,
                                  SchedulePolicy::places, SchedulePolicy::nas}) {
            ScheduleSettings settings = places(PushInit::randnuma);
            settings.schedule = policy;
            auto const result = run(kind, grid, machine, settings);
            auto const graph = tasks_of(kind, grid, machine.threads).graph;
            std::set<TaskId> seen;
            for (auto const& list : result.run.lists) seen.insert(list.begin(), list.end());
            EXPECT_EQ(std::ssize(seen), graph.num_tasks());
            for (TaskId t = 0; t < graph.num_tasks(); ++t)
                for (TaskId const next : graph.successors_of(t))
                    EXPECT_GE(result.run.start[next], result.run.end[t]);
            EXPECT_GT(result.local_share, 0);
            EXPECT_LT(result.local_share, 1);
            EXPECT_GE(result.idle(), 0);
            EXPECT_LT(result.idle(), 1);
            EXPECT_EQ(run(kind, grid, machine, settings).run.lists, result.run.lists) << "the same twice";
        }
}

TEST(SimulatedTiles, OnOneNodeTakeTheirCosts) {
    for (DenseKind const kind : kinds) {
        auto const result = run(kind, {80, 10}, machine_of(1, 4), places(PushInit::cyclicnuma));
        EXPECT_NEAR(result.busy_s(), static_cast<double>(num_tile_tasks(kind, 8)), 1e-9);
        EXPECT_EQ(result.local_share, 1);
        EXPECT_EQ(run(kind, {80, 10}, machine_of(1, 1), {}).run.makespan, num_tile_tasks(kind, 8));
    }
}

TEST(SimulatedTiles, FollowTheDataThatPushInitDistributes) {
    MachineModel const machine = machine_of(4, 2, 2);
    PolicyMachine const nodes(machine.node_of_thread);
    TileGrid const grid{120, 10};
    for (DenseKind const kind : kinds) {
        std::set<double> makespans;
        for (PushInit const init : {PushInit::cyclicnuma, PushInit::randnuma}) {
            ScheduleSettings const settings =
                places(init, PushStrategy::numa_w, SelectStrategy::numa_proc, true);
            auto const strict = run(kind, grid, machine, settings);
            TileOwners const owners = tile_owners(kind, grid, nodes, settings);
            auto const tasks = tasks_of(kind, grid, 1).tasks;
            for (std::size_t t = 0; t < tasks.size(); ++t)
                EXPECT_EQ(nodes.node_of(strict.run.worker_of_task[t]),
                          nodes.node_of(owners.of(tasks[t].i, tasks[t].j)));
            auto const anywhere =
                run(kind, grid, machine, places(init, PushStrategy::loc, SelectStrategy::rand));
            EXPECT_GT(strict.local_share, anywhere.local_share);
            makespans.insert(strict.run.makespan);
        }
        EXPECT_EQ(makespans.size(), 2u) << "the two distributions differ";
    }
}

TEST(SimulatedTiles, InTheMemoryOfOneNodeShareItsBandwidth) {
    MachineModel machine = machine_of(4, 2);
    ScheduleSettings settings = places(PushInit::cyclicnuma);
    machine.memory.node_bandwidth = 8 * 500; // a task requests 8 x 300 to 8 x 500 bytes per second
    double const local = run(DenseKind::qr, {120, 10}, machine, settings).run.makespan;
    settings.allocation = Allocation::global;
    EXPECT_GT(run(DenseKind::qr, {120, 10}, machine, settings).run.makespan, 2 * local);
}

} // namespace
} // namespace espalier
