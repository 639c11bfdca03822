// Patterns of (block) rows.
#pragma once

#include <cstdint>
#include <span>

#include "core/graph.hpp"
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
    /// The position of each block among the stored entries of the matrix. Empty unless block_pattern() found
    /// it.
    LargeVector<std::int32_t> source;

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

/// Average number of entries of L from which rows of scalars are long: the rows of U that they depend on are
/// then prefetched, and the values of A are copied in the order of A.
inline constexpr Offset long_row = 8;

/// Error{usage} unless blocks of this size divide the rows of the matrix.
void require_block_size(StoredPattern const& a, int size);

struct BlockColumns;

/// The b x b blocks of a square matrix with stored entries, both triangles and the whole diagonal included.
/// Block row i becomes row positions[i], or stays row i if `positions` is empty. Error{bad_input} if the
/// matrix is not square; Error{usage} if b does not divide its size or `positions` is not a permutation of
/// the block rows; Error{unsupported} for more than 2^31 - 2 block rows. `whole` are the whole_blocks() of
/// the matrix, or null. With `finds_source`, RowPattern::source is set for scalars with general storage, no
/// positions, a symmetric pattern with the whole diagonal, and columns that ascend.
RowPattern block_pattern(StoredPattern const& a, int block_size, std::span<Index const> positions = {},
                         BlockColumns const* whole = nullptr, bool finds_source = false);

/// Whether the pattern is symmetric and its rows can be given two colors so that neighbors differ. Grids with
/// neighbors along the axes are such patterns. Near-linear.
bool is_bipartite(RowPattern const& pattern);

/// (i, j) is in the transpose if (j, i) is in the pattern.
RowPattern transpose(RowPattern const& pattern);

/// The union of the pattern and its transpose.
RowPattern symmetrized(RowPattern const& pattern);

/// The graph of the pattern and its transpose, without the diagonal.
Graph row_graph(RowPattern const& pattern);

} // namespace espalier
