// Patterns of (block) rows, and level-of-fill patterns of incomplete factors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/graph.hpp"
#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "runtime/large_vector.hpp"

namespace espalier {

/// The number of a block row or block column. Numbers have 32 bits, because the speed of the sweeps is
/// limited by the memory that they read.
using BlockRow = std::int32_t;

/// The pattern of a matrix without its values. Code that needs only the pattern takes this type and is
/// compiled once for all scalars. It refers to the matrix, which must outlive it.
struct StoredPattern {
    Index rows, cols;
    Symmetry symmetry;
    std::span<Offset const> col_ptr;
    std::span<Index const> row_ind;

    template <class T>
    StoredPattern(CscMatrix<T> const& a) // NOLINT: implicit, because a matrix has a pattern
        : rows(a.rows), cols(a.cols), symmetry(a.symmetry), col_ptr(a.col_ptr), row_ind(a.row_ind) {}

    [[nodiscard]] IndexRange entries_of(Index j) const { return {col_ptr[j], col_ptr[j + 1]}; }
    [[nodiscard]] Offset stored() const { return col_ptr.back(); }
};

/// The stored blocks of a square matrix, row by row. Each row contains its diagonal block.
struct RowPattern {
    BlockRow num_rows = 0;
    LargeVector<Offset> ptr{0};   ///< num_rows + 1 entries.
    LargeVector<BlockRow> cols;   ///< Ascending in each row.
    LargeVector<Offset> diagonal; ///< Position of the diagonal block of each row in cols.
    bool symmetric = false;       ///< Whether (i, j) is stored if and only if (j, i) is.
    /// Whether block_pattern() found the blocks of each column in ascending order, and stored triangles with
    /// their diagonal.
    bool has_sorted_columns = false;

    [[nodiscard]] std::span<BlockRow const> row(BlockRow i) const {
        return {cols.data() + ptr[i], cols.data() + ptr[i + 1]};
    }
    [[nodiscard]] std::span<BlockRow const> lower(BlockRow i) const {
        return {cols.data() + ptr[i], cols.data() + diagonal[i]};
    }
    [[nodiscard]] std::span<BlockRow const> upper(BlockRow i) const {
        return {cols.data() + diagonal[i] + 1, cols.data() + ptr[i + 1]};
    }
    [[nodiscard]] Offset num_blocks() const { return ptr.back(); }
};

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

/// The b x b blocks of a square matrix with stored entries, both triangles and the whole diagonal included.
/// Block row i becomes row positions[i], or stays row i if `positions` is empty. Error{bad_input} if the
/// matrix is not square; Error{usage} if b does not divide its size or `positions` is no permutation of the
/// block rows; Error{unsupported} for more than 2^31 - 2 block rows. `whole` are the whole_blocks() of the
/// matrix, or null.
RowPattern block_pattern(StoredPattern const& a, int block_size, std::span<Index const> positions = {},
                         BlockColumns const* whole = nullptr);

/// (i, j) is in the transpose if (j, i) is in the pattern.
RowPattern transpose(RowPattern const& pattern);

/// The union of the pattern and its transpose.
RowPattern symmetrized(RowPattern const& pattern);

/// The graph of the pattern and its transpose, without the diagonal.
Graph row_graph(RowPattern const& pattern);

/// The pattern of the incomplete factors L + U with fill of levels up to `levels` >= 0. By the fill path
/// theorem, (i, j) is fill of level k if the shortest path from i to j in the graph of A through vertices
/// below both has k + 1 edges [Hysom, Pothen 2001]. The rows are independent and are searched on `threads`
/// threads; the result does not depend on their number. Error{cancelled} soon after the interrupt asks for
/// it.
RowPattern fill_pattern(RowPattern a, Index levels, int threads = 1, Interrupt* interrupt = nullptr);

} // namespace espalier
