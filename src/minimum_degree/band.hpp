// Narrow bands, which keep their order: factors of a full band are full inside of the band, and no order
// causes less fill.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include "espalier/types.hpp"

namespace espalier {

/// The largest bandwidth of a narrow band.
inline constexpr Index widest_narrow_band = 24;

/// The largest |i - j| of the entries of a square matrix, or of a triangle of it, stored by columns. Returns
/// nothing if it is more than widest_narrow_band or half of the order, or if fewer than two fifths of the
/// entries in the band are stored. Stops at the first entry outside of such a band.
template <class Position, class Row> std::optional<Index>
narrow_bandwidth(std::span<Position const> ptr, std::span<Row const> ind, bool is_triangle) {
    Index const n = std::ssize(ptr) - 1;
    Index const widest = std::min(widest_narrow_band, n / 2);
    Index width = 0;
    for (Index j = 0; j < n; ++j)
        for (Position p = ptr[j]; p < ptr[j + 1]; ++p) {
            width = std::max(width, std::abs(static_cast<Index>(ind[p]) - j));
            if (width > widest) return std::nullopt;
        }
    Index const below = n * width - width * (width + 1) / 2; // entries below the diagonal
    Index const in_band = n + (is_triangle ? 1 : 2) * below;
    if (5 * std::ssize(ind) < 2 * in_band) return std::nullopt;
    return width;
}

} // namespace espalier
