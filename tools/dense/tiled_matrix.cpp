#include "tools/dense/tiled_matrix.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/mix_bits.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

TiledMatrix::TiledMatrix(DenseKind kind, TileGrid const& grid, TileOwners owners, Allocation allocation)
    : kind_(kind), grid_(grid), owners_(std::move(owners)),
      arenas_(allocation == Allocation::global ? 1 : owners_.num_workers()) {
    std::int32_t const count = grid.count();
    Index const num_tiles = Index{count} * count;
    std::vector<std::size_t> position(num_tiles), bytes(arenas_.size(), 0);
    auto const arena_of = [&](std::int32_t i, std::int32_t j) {
        return arenas_.size() == 1 ? 0 : owners_.of(i, j);
    };
    constexpr std::size_t cache_line = 64;
    std::size_t total = 0;
    for (std::int32_t i = 0; i < count; ++i)
        for (std::int32_t j = 0; j < count; ++j) {
            if (!has_tile(i, j)) continue;
            std::size_t& end = bytes[arena_of(i, j)];
            position[i * count + j] = end;
            Index const rows = grid.size(i) + (has_triangles(i, j) ? inner_block : 0);
            std::size_t const size = rows * grid.size(j) * sizeof(double);
            std::size_t const padded = (size + cache_line - 1) / cache_line * cache_line;
            end += padded;
            total += padded;
        }
    // The arenas may fit one by one, but not together.
    if (std::uint64_t const available = available_memory_bytes(); total > available)
        throw Error(Status::out_of_memory,
                    fmt::format("the tiles need {} bytes, but {} are available", total, available));
    for (std::size_t a = 0; a < arenas_.size(); ++a)
        if (bytes[a] > 0) arenas_[a] = Arena(bytes[a], allocation);
    tiles_.assign(num_tiles, nullptr);
    for (std::int32_t i = 0; i < count; ++i)
        for (std::int32_t j = 0; j < count; ++j)
            if (has_tile(i, j))
                tiles_[i * count + j] =
                    reinterpret_cast<double*>(arenas_[arena_of(i, j)].data() + position[i * count + j]);
}

void TiledMatrix::fill(WorkerTeam& team) {
    // As in a program without NUMA support, the memory comes from the node of worker 0.
    if (arenas_.size() == 1 && arenas_[0].fresh())
        team.for_each_worker([&](WorkerId worker) {
            if (worker == 0) populate(arenas_[0].bytes());
        });
    for (Arena& arena : arenas_) arena.mark_used();
    team.for_each_worker([&](WorkerId worker) { fill_owned(worker); });
}

void TiledMatrix::fill_owned(WorkerId worker) {
    for (std::int32_t i = 0; i < grid_.count(); ++i)
        for (std::int32_t j = 0; j < grid_.count(); ++j) {
            if (!has_tile(i, j) || owners_.of(i, j) != worker) continue;
            auto const a = tile(i, j);
            for (Index col = 0; col < a.cols; ++col)
                for (Index row = 0; row < a.rows; ++row)
                    a(row, col) = entry(grid_.first(i) + row, grid_.first(j) + col);
        }
}

double TiledMatrix::entry(Index i, Index j) const {
    bool const symmetric = kind_ == DenseKind::cholesky;
    Index const row = symmetric ? std::max(i, j) : i, col = symmetric ? std::min(i, j) : j;
    std::uint64_t const bits = hash_bits(row * grid_.n + col);
    double const value = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
    return symmetric && i == j ? value + static_cast<double>(grid_.n) : value;
}

MatrixView<double> TiledMatrix::tile(std::int32_t i, std::int32_t j) const {
    Index const rows = grid_.size(i);
    return {tiles_[i * grid_.count() + j], rows, grid_.size(j), rows};
}

MatrixView<double> TiledMatrix::triangles(std::int32_t i, std::int32_t k) const {
    auto const a = tile(i, k);
    return {a.data + a.rows * a.cols, inner_block, a.cols, inner_block};
}

} // namespace espalier
