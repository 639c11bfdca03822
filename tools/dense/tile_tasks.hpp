// The tasks of the right-looking tiled Cholesky and of the tiled QR with a flat tree (Buttari, Langou,
// Kurzak, Dongarra 2009), as task graphs for the runtime. The tasks are listed in the order of the sequential
// algorithm; who waits for whom follows from the data that each reads and writes.
//
//   Cholesky, for each step k                        QR, for each step k
//     potrf  A(k,k) = L(k,k) L(k,k)^T                  geqrt  A(k,k) = Q R(k,k)
//     trsm   L(i,k) = A(i,k) L(k,k)^-T                 unmqr  A(k,j) = Q^T A(k,j)
//     syrk   A(i,i) -= L(i,k) L(i,k)^T                 tsqrt  [R(k,k); A(i,k)] = Q [R'; 0]
//     gemm   A(i,j) -= L(i,k) L(j,k)^T                 tsmqr  [A(k,j); A(i,j)] = Q^T [A(k,j); A(i,j)]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policies/policy_machine.hpp"
#include "policies/task_graph.hpp"
#include "tools/dense/tile_grid.hpp"

namespace espalier {

enum class TileKernel : std::uint8_t { potrf, trsm, syrk, gemm, geqrt, unmqr, tsqrt, tsmqr };
inline constexpr std::size_t num_tile_kernels = 8;
char const* to_string(TileKernel kernel);

/// Step k, on tile (i, j).
struct TileTask {
    TileKernel kernel = TileKernel::potrf;
    std::int32_t k = 0, i = 0, j = 0;
};

/// Tiles, numbered row by row; of the diagonal tiles of QR the part above the diagonal. What geqrt leaves
/// below it, which never changes again while R does, has a number of its own: count^2 + k. -1 where there is
/// none.
struct TileAccesses {
    std::array<std::int32_t, 2> read{-1, -1};
    std::array<std::int32_t, 2> written{-1, -1}; ///< And read.
};
TileAccesses accesses(TileTask const& task, std::int32_t count);

/// Multiplications and additions of one task.
double flops(TileTask const& task, TileGrid const& grid);
/// And of the whole: n^3 / 3 or 4 n^3 / 3. What QR does more in tiles than that does not count.
double flops(DenseKind kind, Index n);

/// Flops per second of each TileKernel.
using TileRates = std::array<double, num_tile_kernels>;

/// Tasks of a matrix with `count` tiles a row.
std::int64_t num_tile_tasks(DenseKind kind, std::int64_t count);

struct TileTasks {
    TileGrid grid;
    std::vector<TileTask> tasks; ///< In the order of the sequential algorithm.
    TaskGraph graph;             ///< Costs in seconds, priorities along the critical path, homes.

    [[nodiscard]] double total_cost() const;
    [[nodiscard]] double critical_path() const;
};

/// The home of a task is the owner of the tile (i, j). Error{usage} for more tasks than a TaskId counts.
TileTasks build_tile_tasks(DenseKind kind, TileGrid const& grid, int workers, TileRates const& rates);

/// Who may run a task as its own, for the tree of queues. While many tiles remain for each worker (the
/// trailing matrix of the task's step has at least 4 a worker), only its home, so that data stay where they
/// are; towards the end, when work runs out, the workers of the home's NUMA node, and at last (fewer than 1 a
/// worker) all of them.
std::vector<WorkerRange> candidate_workers(TileTasks const& tasks, PolicyMachine const& machine);

} // namespace espalier
