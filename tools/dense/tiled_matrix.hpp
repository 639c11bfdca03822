// A test matrix in tiles, which the factorization overwrites by the factors. Each tile is contiguous and in
// the memory of its owner. Entry (i, j) is a function of i and j, so the matrix need not be kept to measure
// the accuracy.
#pragma once

#include <vector>

#include "kernels/view.hpp"
#include "runtime/memory.hpp"
#include "runtime/worker_team.hpp"
#include "tools/dense/tile_grid.hpp"

namespace espalier {

class TiledMatrix {
  public:
    /// The columns of an inner block of QR.
    static constexpr Index inner_block = 32;

    /// Allocates the tiles (for Cholesky on and below the diagonal) in an arena for each worker, or in one
    /// arena if `allocation` is global. No memory is touched. Error{out_of_memory} states the bytes.
    TiledMatrix(DenseKind kind, TileGrid const& grid, TileOwners owners, Allocation allocation);
    /// With the block-cyclic owners.
    TiledMatrix(DenseKind kind, TileGrid const& grid, int workers, Allocation allocation)
        : TiledMatrix(kind, grid, TileOwners(workers), allocation) {}

    /// Writes the test matrix. Entries are uniform in [-1, 1]; for Cholesky the matrix is symmetric, and n is
    /// added to the diagonal. Each worker writes its own tiles. Worker 0 touches a global array first.
    void fill(WorkerTeam& team);
    /// Writes the tiles of one worker.
    void fill_owned(WorkerId worker);

    [[nodiscard]] DenseKind kind() const { return kind_; }
    [[nodiscard]] TileGrid const& grid() const { return grid_; }
    [[nodiscard]] double entry(Index i, Index j) const;
    [[nodiscard]] MatrixView<double> tile(std::int32_t i, std::int32_t j) const;
    /// The triangles T of the reflections in tile (i, k) of QR, i >= k. They have inner_block rows.
    [[nodiscard]] MatrixView<double> triangles(std::int32_t i, std::int32_t k) const;

  private:
    [[nodiscard]] bool has_tile(std::int32_t i, std::int32_t j) const {
        return kind_ == DenseKind::qr || i >= j;
    }
    [[nodiscard]] bool has_triangles(std::int32_t i, std::int32_t j) const {
        return kind_ == DenseKind::qr && i >= j;
    }

    DenseKind kind_;
    TileGrid grid_;
    TileOwners owners_;
    std::vector<Arena> arenas_;
    std::vector<double*> tiles_; ///< Row by row. The triangles T follow their tile.
};

} // namespace espalier
