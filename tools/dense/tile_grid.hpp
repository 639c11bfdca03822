// The partition of a square dense matrix into tiles, and the owners of the tiles.
#pragma once

#include <algorithm>

#include "policies/task_graph.hpp"

namespace espalier {

enum class DenseKind { cholesky, qr };
char const* to_string(DenseKind kind);

/// Tiles of `tile` x `tile`, which may be smaller in the last row and column. Both members are at least 1.
struct TileGrid {
    Index n = 0;
    Index tile = 0;

    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>((n + tile - 1) / tile); }
    [[nodiscard]] Index first(std::int32_t i) const { return i * tile; }
    [[nodiscard]] Index size(std::int32_t i) const { return std::min(tile, n - first(i)); }
};

/// The owners are a block-cyclic distribution over a grid of workers, as square as their number allows and
/// wider than tall: with few workers, one worker owns whole columns of tiles.
class TileOwners {
  public:
    explicit TileOwners(int workers) {
        for (int rows = 1; rows * rows <= workers; ++rows)
            if (workers % rows == 0) rows_ = rows;
        columns_ = workers / rows_;
    }
    [[nodiscard]] WorkerId of(std::int32_t i, std::int32_t j) const {
        return i % rows_ * columns_ + j % columns_;
    }

  private:
    int rows_ = 1;
    int columns_ = 1;
};

} // namespace espalier
