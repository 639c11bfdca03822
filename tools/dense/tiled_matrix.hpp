// A test matrix in tiles, each of them contiguous and in the memory of its owner, and in their place after
// the factorization the factors. Entry (i, j) is a function of i and j, so that the matrix need not be kept
// to tell how good the factors are.
#pragma once

#include <vector>

#include "kernels/view.hpp"
#include "runtime/memory.hpp"
#include "runtime/worker_team.hpp"
#include "tools/dense/tile_grid.hpp"

namespace espalier {

class TiledMatrix {
  public:
    /// Columns of the inner blocks of QR.
    static constexpr Index inner_block = 32;

    /// Memory for the tiles (of Cholesky those on and below the diagonal) in an arena for each of `workers`,
    /// or in one when `allocation` is global. Nothing is touched. Error{out_of_memory} that states the bytes.
    TiledMatrix(DenseKind kind, TileGrid const& grid, int workers, Allocation allocation);

    /// Write the test matrix: uniform in [-1, 1], for Cholesky symmetric and n more on the diagonal. Each
    /// worker writes the tiles that it owns; a global array is touched by worker 0 before.
    void fill(WorkerTeam& team);
    /// The tiles of one worker.
    void fill_owned(WorkerId worker);

    [[nodiscard]] DenseKind kind() const { return kind_; }
    [[nodiscard]] TileGrid const& grid() const { return grid_; }
    [[nodiscard]] double entry(Index i, Index j) const;
    [[nodiscard]] MatrixView<double> tile(std::int32_t i, std::int32_t j) const;
    /// The triangles T of the reflections in tile (i, k) of QR, i >= k: inner_block rows.
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
    std::vector<double*> tiles_; ///< Row by row; the triangles T stand behind the tile.
};

} // namespace espalier
