#include "solve/sparse_block.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/scalar.hpp"

namespace espalier {

namespace {

void mark_path(BlockStructure const& structure, CblkId from, std::vector<char>& reached, CblkId& count) {
    for (CblkId k = from; k != no_cblk && !reached[k]; k = structure.cblk(k).parent) {
        reached[k] = 1;
        ++count;
    }
}

} // namespace

template <class T>
std::vector<Index> order_by_first_entry(CscMatrix<T> const& b, BlockStructure const& structure) {
    std::vector<std::pair<Index, Index>> starts; // first row, column
    for (Index j = 0; j < b.cols; ++j) {
        Index first = std::numeric_limits<Index>::max();
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p) {
            Index const row = b.row_ind[p];
            if (row < 0 || row >= structure.n)
                throw Error(Status::bad_input, fmt::format("right-hand side {} has an entry in row {} of {}",
                                                           j + 1, row + 1, structure.n));
            first = std::min(first, structure.perm[row]);
        }
        if (first != std::numeric_limits<Index>::max()) starts.emplace_back(first, j);
    }
    std::sort(starts.begin(), starts.end());
    std::vector<Index> columns(starts.size());
    std::transform(starts.begin(), starts.end(), columns.begin(), [](auto const& s) { return s.second; });
    return columns;
}

template <class T> SparseBlock<T> make_sparse_block(CscMatrix<T> const& b, BlockStructure const& structure,
                                                    std::vector<Index> const& columns, Index first,
                                                    Index count) {
    SparseBlock<T> block;
    block.reached.assign(structure.cblks.size(), 0);
    for (Index c = 0; c < count; ++c) {
        Index const j = columns[first + c];
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p) {
            Index const row = structure.perm[b.row_ind[p]];
            block.entries.push_back({row, c, b.values[p]});
            mark_path(structure, structure.cblk_of_col[row], block.reached, block.num_reached);
        }
    }
    std::sort(block.entries.begin(), block.entries.end(), [](auto const& x, auto const& y) {
        return std::tie(x.row, x.column) < std::tie(y.row, y.column);
    });
    return block;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::vector<Index> order_by_first_entry<T>(CscMatrix<T> const&, BlockStructure const&);         \
    template SparseBlock<T> make_sparse_block<T>(CscMatrix<T> const&, BlockStructure const&,                 \
                                                 std::vector<Index> const&, Index, Index);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
