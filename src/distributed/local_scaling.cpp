#include "distributed/local_scaling.hpp"

#include "distributed/deal.hpp"

namespace espalier {

namespace {

// Scales are powers of two, so the products are exact. Those of single precision are made in double
// precision, because a scale may exceed its range.
template <class T, class Factor> void scale_rows(std::span<T> block, Index columns,
                                                 std::vector<double> const& scales, RowWorkers const& workers,
                                                 Factor const& factor) {
    auto const m = std::ssize(scales);
    workers.for_each_chunk(m, [&](int, IndexRange rows) {
        for (Index c = 0; c < columns; ++c) {
            T* const column = block.data() + c * m;
            for (Index i = rows.first; i < rows.last; ++i) {
                double const scale = factor(scales[i]);
                auto const scaled = [scale](Real<T> part) { return static_cast<Real<T>>(part * scale); };
                if constexpr (is_complex<T>)
                    column[i] = {scaled(column[i].real()), scaled(column[i].imag())};
                else
                    column[i] = scaled(column[i]);
            }
        }
    });
}

} // namespace

// A x = b:            B (C^-1 x) = P R b.
// A^T x = b:  B^T (P R^-1 x) = C b, likewise for A^H since the scales are real.
template <class T>
void LocalScaling::to_working(std::span<T> b, Index columns, MatrixOp op, RowWorkers const& workers) const {
    scale_rows(b, columns, op == MatrixOp::none ? row_scale : column_scale, workers,
               [](double s) { return s; });
}
template <class T>
void LocalScaling::from_working(std::span<T> y, Index columns, MatrixOp op, RowWorkers const& workers) const {
    scale_rows(y, columns, op == MatrixOp::none ? column_scale : row_scale, workers,
               [](double s) { return s; });
}
template <class T> void LocalScaling::solution_to_working(std::span<T> x, Index columns, MatrixOp op,
                                                          RowWorkers const& workers) const {
    scale_rows(x, columns, op == MatrixOp::none ? column_scale : row_scale, workers,
               [](double s) { return 1 / s; });
}

template <class T> LocalScaling deal_scaling(DistributedRows const& rows, ScaledSystem<T> const* system) {
    Owners const owners(rows);
    std::vector<Index> row_at; // the row of A of each row of B
    auto const bytes = deal_out(rows.comm(), [&](Packer& packer, int r) {
        if (row_at.empty()) {
            row_at.resize(rows.order());
            for (Index i = 0; i < rows.order(); ++i) row_at[system->row_place(i)] = i;
        }
        LocalScaling part;
        part.is_scaled = system->is_scaled();
        for (Index const k : owners.rows_of(r)) {
            part.callers_row.push_back(row_at[k]);
            part.callers_column.push_back(k);
            if (!system->is_scaled()) continue;
            part.row_scale.push_back(system->row_scale(row_at[k]));
            part.column_scale.push_back(system->column_scale(k));
        }
        packer(part.is_scaled, part.row_scale, part.column_scale, part.callers_row, part.callers_column);
    });
    LocalScaling mine;
    all_succeed(rows.comm(), [&] {
        Unpacker{bytes}(mine.is_scaled, mine.row_scale, mine.column_scale, mine.callers_row,
                        mine.callers_column);
    });
    return mine;
}

ESPALIER_INSTANTIATE_FUNCTION(deal_scaling)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void LocalScaling::to_working(std::span<T>, Index, MatrixOp, RowWorkers const&) const;          \
    template void LocalScaling::from_working(std::span<T>, Index, MatrixOp, RowWorkers const&) const;        \
    template void LocalScaling::solution_to_working(std::span<T>, Index, MatrixOp, RowWorkers const&) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
