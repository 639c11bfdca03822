// The dense blocks and the order of the rows of an incomplete factorization.
#pragma once

#include <vector>

#include "ordering/ordering.hpp"
#include "rows/row_pattern.hpp"

namespace espalier {

struct RowOrder {
    int block_size = 1;
    std::vector<Index> positions; ///< New numbers of block rows; empty: as in the matrix.
};

/// Orders the block rows of a square matrix. `block_size` is 1 .. 6, or 0 for find_block_size(). A user's
/// ordering has the positions of single rows. If it separates the rows of a block, the blocks have size 1, or
/// Error{usage} if their size was given. Throws the errors of compute_ordering() and block_pattern().
RowOrder order_rows(StoredPattern const& a, int block_size, OrderingOptions const& ordering);

} // namespace espalier
