// How the factorization of a diagonal block is divided into parts that several workers execute. The kernels
// make the parts (kernels/panel.hpp), and the simulation predicts their times (tasks/diagonal_stages.hpp), so
// both take the sizes from here.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// A part of the update of a lower triangle: `rows` x `cols` from (row, col) on. A part with row == col has
/// the square on the diagonal.
struct LowerPart {
    Index row = 0, rows = 0, col = 0, cols = 0;
};

/// Columns that LDL eliminates before it updates those to their right.
inline constexpr Index ldl_panel_columns = 32;

/// The sizes of the parts of a block.
struct PartSizes {
    /// Most columns of a part of a triangle: kernels have buffers for them.
    static constexpr Index most_columns = 32;

    /// Blocks of fewer than 2 * least_columns columns, and of at most 8, stay whole.
    explicit PartSizes(Index least)
        : least_columns(std::max<Index>(least, 1)),
          columns(std::clamp<Index>((2 * least / 3 + 7) / 8 * 8, 8, most_columns)) {}

    /// Halves are multiples of 8 columns, so 8 columns have none.
    [[nodiscard]] bool divide(Index n) const { return n >= 2 * least_columns && n > 8; }

    /// The number of ranges of `columns` columns (or rows), the last of which may have fewer.
    [[nodiscard]] int num_ranges(Index n) const { return static_cast<int>((n + columns - 1) / columns); }
    /// The number of columns of a range.
    [[nodiscard]] Index size_of_range(Index n, int range) const {
        return std::min(columns, n - range * columns);
    }
    /// The parts of the lower triangle of an n x n block, column by column: squares of `columns` columns.
    [[nodiscard]] std::vector<LowerPart> lower_parts(Index n) const {
        std::vector<LowerPart> parts;
        for (Index col = 0; col < n; col += columns)
            for (Index row = col; row < n; row += columns)
                parts.push_back({row, std::min(columns, n - row), col, std::min(columns, n - col)});
        return parts;
    }

    Index least_columns;
    Index columns;
};

/// Executes the parts of a block.
struct BlockDivision {
    PartSizes sizes;
    /// Calls part(0) ... part(count - 1) in any order, perhaps at the same time, and returns when all have
    /// ended.
    std::function<void(int count, std::function<void(int)> const& part)> run;

    /// Calls body(first, count) for ranges of [0, n).
    template <class Body> void for_each_range(Index n, Body const& body) const {
        run(sizes.num_ranges(n),
            [&](int range) { body(range * sizes.columns, sizes.size_of_range(n, range)); });
    }
    /// Calls body(part) for the parts of a lower triangle.
    template <class Body> void for_each_lower_part(Index n, Body const& body) const {
        auto const parts = sizes.lower_parts(n);
        run(static_cast<int>(parts.size()), [&](int part) { body(parts[static_cast<std::size_t>(part)]); });
    }
};

} // namespace espalier
