// The task graphs of the right-looking tiled Cholesky factorization and of the tiled QR factorization with a
// flat tree (Buttari, Langou, Kurzak, Dongarra 2009). The tasks are in the order of the sequential algorithm.
// Dependencies follow from the data that each task reads and writes.
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

/// The data of a task: tiles, numbered row by row, or -1. The reflections that geqrt stores below the
/// diagonal of tile (k, k) have a number of their own, count^2 + k, as they never change again while R above
/// them does.
struct TileAccesses {
    std::array<std::int32_t, 2> read{-1, -1};
    std::array<std::int32_t, 2> written{-1, -1}; ///< These are read, too.
};
TileAccesses accesses(TileTask const& task, std::int32_t count);

/// Multiplications and additions of one task.
double flops(TileTask const& task, TileGrid const& grid);
/// Operations of the whole factorization: n^3 / 3 or 4 n^3 / 3, without the additional ones of QR in tiles.
double flops(DenseKind kind, Index n);

/// Operations per second of each TileKernel.
using TileRates = std::array<double, num_tile_kernels>;

/// The number of tasks for `count` x `count` tiles.
std::int64_t num_tile_tasks(DenseKind kind, std::int64_t count);

struct TileTasks {
    TileGrid grid;
    std::vector<TileTask> tasks; ///< In sequential order.
    TaskGraph graph;             ///< Costs are seconds; priorities are longest paths.

    [[nodiscard]] double total_cost() const;
    [[nodiscard]] double critical_path() const;
};

/// The home of a task is the owner of tile (i, j). Error{usage} if a TaskId cannot number the tasks.
TileTasks build_tile_tasks(DenseKind kind, TileGrid const& grid, TileOwners const& owners,
                           TileRates const& rates);
/// With the block-cyclic owners.
TileTasks build_tile_tasks(DenseKind kind, TileGrid const& grid, int workers, TileRates const& rates);

/// The candidate workers of each task, for the tree of queues. While the trailing matrix has at least 4 tiles
/// per worker, the home is the only candidate, so that data stay in its memory. Later the workers of its NUMA
/// node are candidates, and with less than 1 tile per worker all workers.
std::vector<WorkerRange> candidate_workers(TileTasks const& tasks, PolicyMachine const& machine);

} // namespace espalier
