// Dense blocks of a matrix: their size, and the block columns of a matrix that consists of whole blocks.
#pragma once

#include <optional>

#include "rows/row_pattern.hpp"

namespace espalier {

/// The largest size b <= 6 that divides the matrix into dense b x b blocks: at least 80 % of the entries of
/// the nonempty blocks are stored. Returns 1 if there is none. A sample of the block columns of a large
/// matrix decides unless it has about this density. Linear.
int find_block_size(StoredPattern const& a);

/// The blocks of a matrix that consists of whole blocks, by block columns.
struct BlockColumns {
    LargeVector<Offset> ptr{0};
    /// rows[ptr[j]] .. rows[ptr[j + 1] - 1] are the rows of block column j, ascending.
    LargeVector<BlockRow> rows;
};

/// The block columns, if all entries of a matrix that is stored as a general one are those of whole, aligned
/// b x b blocks, b > 1, and ascend in each column. Such a matrix can be read block by block. Linear; the
/// threads share the columns.
std::optional<BlockColumns> whole_blocks(StoredPattern const& a, int block_size, int threads = 1);

/// Calls visit(i) once for each stored block (i, j) of a block column. `seen` has an entry for each block
/// row, and none of them is `mark`.
template <int B, class Visit> void visit_block_column(StoredPattern const& a, BlockRow j,
                                                      LargeVector<BlockRow>& seen, BlockRow mark,
                                                      Visit const& visit) {
    for (Index column = Index(j) * B; column < Index(j + 1) * B; ++column)
        for (Offset const p : a.entries_of(column)) {
            auto const i = static_cast<BlockRow>(a.row_ind[p] / B);
            if (B > 1) {
                if (seen[i] == mark) continue;
                seen[i] = mark;
            }
            visit(i);
        }
}

} // namespace espalier
