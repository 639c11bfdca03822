#include "solve/solve_sparse.hpp"

#include <algorithm>

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

template <class T> SparseSolveStats solve_sparse(Factor<T> const& factor, FactorPlan const& plan,
                                                 CscMatrix<T> const& b, MatrixView<T> x, WorkerTeam& team,
                                                 SolveOptions const& options) {
    BlockStructure const& structure = factor.structure();
    require_all_eliminated(structure);
    require_shape(structure, x.rows, x.cols, x.ld);
    check_right_hand_sides(structure, b, x.cols);
    std::vector<Index> const order = order_by_first_entry(b, structure);
    for (Index j = 0; j < x.cols; ++j)
        if (b.col_ptr[j] == b.col_ptr[j + 1]) std::fill_n(x.column(j), x.rows, T(0));

    SparseSolveStats stats;
    auto const count = static_cast<Index>(order.size());
    Index const vectors = std::min(count, Sweep<T>::max_vectors);
    if (count == 0) return stats;
    Sweep<T> sweep(factor, plan, options.op, vectors, team, options.interrupt);
    std::vector<T*> columns;
    for (Index first = 0; first < count; first += vectors) {
        Index const size = std::min(vectors, count - first);
        SparseBlock<T> const block = make_sparse_block(b, structure, order, first, size);
        columns.clear();
        for (Index c = first; c < first + size; ++c) columns.push_back(x.column(order[c]));
        sweep.run(columns, SweepPart::whole, &block);
        ++stats.blocks;
        stats.cblks_visited += block.num_reached;
        stats.cblks_in_total += structure.num_cblks();
    }
    return stats;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template SparseSolveStats solve_sparse<T>(Factor<T> const&, FactorPlan const&, CscMatrix<T> const&,      \
                                              MatrixView<T>, WorkerTeam&, SolveOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
