// Tasks follow the pages of their tiles.
#include "tools/dense/tile_nodes.hpp"

#include <gtest/gtest.h>

#include "tools/dense/support.hpp"

namespace espalier {

TEST(TileNodes, AreReportedForStoredTiles) {
    Topology const machine = Topology::detect();
    for (DenseKind const kind : kinds) {
        TileGrid const grid{300, 64};
        TiledMatrix matrix(kind, grid, 1, Allocation::global);
        matrix.fill_owned(0);
        auto const nodes = nodes_of_tiles(matrix, machine);
        ASSERT_EQ(std::ssize(nodes), grid.count() * grid.count());
        int const first = nodes.front();
        if (first < 0) GTEST_SKIP() << "the system does not say where pages lie";
        for (std::int32_t i = 0; i < grid.count(); ++i)
            for (std::int32_t j = 0; j < grid.count(); ++j)
                EXPECT_EQ(nodes[i * grid.count() + j], kind == DenseKind::qr || i >= j ? first : -1);
        if (machine.num_nodes() == 1) {
            EXPECT_EQ(first, 0);
        }
    }
}

TEST(TileNodes, MoveTheTasksThatWriteTheirTileOnly) {
    TileGrid const grid{80, 10};
    std::int32_t const count = grid.count();
    TileOwners const owners(4); // workers 0, 1 on node 0 and 2, 3 on node 1
    std::vector<WorkerPlace> places(4);
    for (int w = 0; w < 4; ++w) places[w].node = w / 2;
    for (DenseKind const kind : kinds) {
        auto const before = build_tile_tasks(kind, grid, owners, unit_rates(10));
        auto tasks = before;
        std::vector<int> nodes(count * count, -1);
        EXPECT_EQ(follow_tiles(tasks, owners, nodes, places), 0);
        EXPECT_EQ(tasks.graph.home, before.graph.home);
        auto const moved = [&](std::int32_t i, std::int32_t j) { return i % 3 == 0 && (j == 0 || i == j); };
        std::int64_t expected = 0;
        for (std::int32_t i = 0; i < count; ++i)
            for (std::int32_t j = 0; j < count; ++j) {
                int const of_owner = places[owners.of(i, j)].node;
                nodes[i * count + j] = moved(i, j) ? 1 - of_owner : of_owner;
                expected += moved(i, j);
            }
        EXPECT_EQ(follow_tiles(tasks, owners, nodes, places), expected);
        for (std::size_t t = 0; t < tasks.tasks.size(); ++t) {
            auto const [kernel, k, i, j] = tasks.tasks[t];
            EXPECT_EQ(places[tasks.graph.home[t]].node, nodes[i * count + j]);
            if (!moved(i, j)) {
                EXPECT_EQ(tasks.graph.home[t], before.graph.home[t]);
            }
        }
    }
}

TEST(TileNodes, OfTasksAreThoseOfTheirWorkers) {
    TileGrid const grid{40, 10};
    std::int32_t const count = grid.count();
    TileOwners const owners(4);
    std::vector<WorkerPlace> places(4);
    for (int w = 0; w < 4; ++w) places[w].node = w / 2;
    auto const tasks = build_tile_tasks(DenseKind::cholesky, grid, owners, unit_rates(10));
    std::vector<int> nodes(count * count, -1);
    std::vector<WorkerId> worker_of_task(tasks.tasks.size(), 3); // on node 1
    EXPECT_EQ(share_at_tiles(tasks, worker_of_task, nodes, places), std::nullopt);
    nodes[0] = 0; // written by potrf of step 0 alone
    EXPECT_EQ(share_at_tiles(tasks, worker_of_task, nodes, places), 0);
    nodes[count] = 1; // written by one trsm
    EXPECT_EQ(share_at_tiles(tasks, worker_of_task, nodes, places), 0.5);
    EXPECT_EQ(tiles_of_nodes(nodes, 3), (std::vector<std::int64_t>{1, 1, 0}));
}

} // namespace espalier
