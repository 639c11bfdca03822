#include "solve/solve_sparse.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "solve/sweep.hpp"

namespace espalier {

namespace {

template <class T>
void check_right_hand_sides(BlockStructure const& structure, CscMatrix<T> const& b, Index columns) {
    if (b.symmetry != Symmetry::general)
        throw Error(Status::usage, "sparse right-hand sides must be stored in full (general)");
    if (b.rows != structure.n || b.cols != columns)
        throw Error(Status::usage, fmt::format("the sparse right-hand sides are {} x {}; expected {} x {}",
                                               b.rows, b.cols, structure.n, columns));
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
            for (CblkId k = structure.cblk_of_col[row]; k != no_cblk && !block.reached[k];
                 k = structure.cblk(k).parent)
                block.reached[k] = 1;
        }
    }
    std::sort(block.entries.begin(), block.entries.end(), [](auto const& x, auto const& y) {
        return std::tie(x.row, x.column) < std::tie(y.row, y.column);
    });
    return block;
}

template <class T> void solve_sparse(Factor<T> const& factor, FactorPlan const& plan, CscMatrix<T> const& b,
                                     MatrixView<T> x, WorkerTeam& team, SolveOptions const& options) {
    BlockStructure const& structure = factor.structure();
    require_all_eliminated(structure);
    require_shape(structure, x.rows, x.cols, x.ld);
    check_right_hand_sides(structure, b, x.cols);
    std::vector<Index> const order = order_by_first_entry(b, structure);
    for (Index j = 0; j < x.cols; ++j)
        if (b.col_ptr[j] == b.col_ptr[j + 1]) std::fill_n(x.column(j), x.rows, T(0));

    auto const count = std::ssize(order);
    Index const vectors = std::min(count, Sweep<T>::max_vectors);
    if (count == 0) return;
    Sweep<T> sweep(factor, plan, options.op, vectors, team, options.interrupt);
    std::vector<T*> columns;
    for (Index first = 0; first < count; first += vectors) {
        Index const size = std::min(vectors, count - first);
        SparseBlock<T> const block = make_sparse_block(b, structure, order, first, size);
        columns.clear();
        for (Index c = first; c < first + size; ++c) columns.push_back(x.column(order[c]));
        sweep.run(columns, SweepPart::whole, &block);
    }
}

ESPALIER_INSTANTIATE_FUNCTION(solve_sparse)
ESPALIER_INSTANTIATE_FUNCTION(order_by_first_entry)
ESPALIER_INSTANTIATE_FUNCTION(make_sparse_block)

} // namespace espalier
