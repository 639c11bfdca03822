// Shared by the tests of this module: task graphs with simple costs, and the sequential factorization.
#pragma once

#include <numeric>
#include <vector>

#include "tools/dense/tile_kernels.hpp"
#include "tools/dense/tile_tasks.hpp"
#include "tools/dense/tiled_matrix.hpp"

namespace espalier {

inline constexpr DenseKind kinds[] = {DenseKind::cholesky, DenseKind::qr};

/// Rates with which every task on full tiles of this size costs 1.
inline TileRates unit_rates(double tile) {
    TileRates rates{1.0 / 3, 1, 1, 2, 4.0 / 3, 2, 2, 4};
    for (double& rate : rates) rate *= tile * tile * tile;
    return rates;
}

inline TileTasks tasks_of(DenseKind kind, TileGrid grid, int workers = 1) {
    return build_tile_tasks(kind, grid, workers, unit_rates(static_cast<double>(grid.tile)));
}

inline std::vector<TaskId> sequence(TileTasks const& tasks) {
    std::vector<TaskId> order(tasks.tasks.size());
    std::iota(order.begin(), order.end(), TaskId{0});
    return order;
}

/// Fills the matrix, and executes the tasks in this order on one thread.
inline void factorize_in_order(TiledMatrix& matrix, TileTasks const& tasks,
                               std::vector<TaskId> const& order) {
    matrix.fill_owned(0);
    TileExecutor executor(matrix);
    for (TaskId const t : order) executor.execute(tasks.tasks[t]);
}

/// The entries of all tiles; for Cholesky only those of L.
inline std::vector<double> entries_of(TiledMatrix const& matrix) {
    std::vector<double> entries;
    for (std::int32_t i = 0; i < matrix.grid().count(); ++i)
        for (std::int32_t j = 0; j < matrix.grid().count(); ++j) {
            if (matrix.kind() == DenseKind::cholesky && j > i) continue;
            auto const tile = matrix.tile(i, j);
            for (Index c = 0; c < tile.cols; ++c)
                for (Index r = 0; r < tile.rows; ++r)
                    if (matrix.kind() == DenseKind::qr || i != j || r >= c) entries.push_back(tile(r, c));
        }
    return entries;
}

} // namespace espalier
