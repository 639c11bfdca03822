// The partition of a square dense matrix into tiles, and the owners of the tiles.
#pragma once

#include <algorithm>
#include <vector>

#include "core/mix_bits.hpp"
#include "policies/policy_machine.hpp"
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

/// The owners of tiles. Tasks follow them: the home of a task is the owner of the tile that it writes.
class TileOwners {
  public:
    /// A block-cyclic distribution over a grid of workers, as square as their number allows and wider than
    /// tall: with few workers, one worker owns whole columns of tiles.
    explicit TileOwners(int workers) : workers_(workers) {
        for (int rows = 1; rows * rows <= workers; ++rows)
            if (workers % rows == 0) rows_ = rows;
        columns_ = workers / rows_;
    }

    /// The tiles (for Cholesky on and below the diagonal), numbered row by row, are distributed to the NUMA
    /// nodes in turn or at random, and in each node to its workers in turn (Virouleau, Broquedis, Gautier,
    /// Rastello 2016).
    TileOwners(DenseKind kind, TileGrid const& grid, PolicyMachine const& machine, PushInit init,
               std::uint64_t seed)
        : workers_(machine.num_workers()), kind_(kind), count_(grid.count()),
          is_random_(init == PushInit::randnuma), seed_(hash_bits(seed)) {
        for (int node = 0; node < machine.num_nodes(); ++node) {
            auto const workers = machine.workers_of(node);
            workers_of_node_.emplace_back(workers.begin(), workers.end());
        }
    }

    /// Tile (i, j), which is stored.
    [[nodiscard]] WorkerId of(std::int32_t i, std::int32_t j) const {
        if (workers_of_node_.empty()) return i % rows_ * columns_ + j % columns_;
        std::uint64_t const row = i;
        std::uint64_t const number = j + (kind_ == DenseKind::cholesky ? row * (row + 1) / 2 : row * count_);
        std::size_t const nodes = workers_of_node_.size();
        auto const& workers = workers_of_node_[(is_random_ ? hash_bits(seed_ ^ number) : number) % nodes];
        return workers[number / nodes % workers.size()];
    }
    [[nodiscard]] int num_workers() const { return workers_; }

  private:
    int workers_;
    int rows_ = 1;
    int columns_ = 1;
    DenseKind kind_ = DenseKind::cholesky;
    std::uint64_t count_ = 0;
    bool is_random_ = false;
    std::uint64_t seed_ = 0;
    std::vector<std::vector<WorkerId>> workers_of_node_; ///< Empty: block-cyclic.
};

} // namespace espalier
