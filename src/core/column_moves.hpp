// Permutations of the columns of a panel as sequences of copies, which can be repeated for blocks of rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// A copy of a column. The source is a column given (see ColumnMoves) or of the panel. One more column of the
/// panel is kept aside.
struct ColumnMove {
    std::int32_t to = 0, from = 0;
};

/// The copies that make columns perm[new] = old of a panel, in this order.
class ColumnMoves {
  public:
    /// Before the copies, the panel has the columns from `own` on; those before are given.
    void find(std::span<std::int32_t const> perm, Index own);
    /// Before the copies, the panel has the columns from `own` on, and then those before.
    void find_rotated(std::span<std::int32_t const> perm, Index own);
    [[nodiscard]] std::span<ColumnMove const> all() const { return moves_; }

  private:
    std::vector<ColumnMove> moves_;
    std::vector<std::int32_t> rotated_;
    std::vector<std::uint8_t> done_;
};

} // namespace espalier
