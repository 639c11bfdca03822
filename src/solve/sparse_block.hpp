// Blocks of sparse right-hand sides. The forward solve with a sparse vector visits only the unknowns that its
// nonzeros reach in the graph of L (Gilbert, Peierls 1988): those on the paths from the nonzeros to the root
// of the elimination tree (Liu 1990). A block of vectors visits the union of their paths, so vectors are
// grouped by the order of their first nonzeros in the postorder (Amestoy, L'Excellent, Moreau 2019).
#pragma once

#include <vector>

#include "espalier/matrix.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

/// Columns of B that are solved together.
template <class T> struct SparseBlock {
    struct Entry {
        Index row;    ///< In the permuted order.
        Index column; ///< Within the block.
        T value;
    };
    std::vector<Entry> entries; ///< By ascending rows.
    std::vector<char> reached;  ///< For each cblk: whether it is on the path from an entry to the root.
};

/// The columns of b that have entries, sorted by their first rows in the permuted order. Error{bad_input}
/// that names a row outside the matrix.
template <class T>
std::vector<Index> order_by_first_entry(CscMatrix<T> const& b, BlockStructure const& structure);

/// The block of the columns `columns[first] .. columns[first + count - 1]` of b. The time is nearly linear in
/// its entries and linear in the cblks.
template <class T> SparseBlock<T> make_sparse_block(CscMatrix<T> const& b, BlockStructure const& structure,
                                                    std::vector<Index> const& columns, Index first,
                                                    Index count);

} // namespace espalier
