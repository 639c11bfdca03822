#include "factor/panel_pivots.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "factor/pivots.hpp"
#include "kernels/product.hpp"
#include "kernels/threshold.hpp"
#include "kernels/triangular.hpp"

namespace espalier {

namespace {

// Permutes the rows: the new row i is the old row perm[i].
template <class T> void permute_rows(MatrixView<T> a, std::span<std::int32_t const> perm) {
    if (std::ranges::is_sorted(perm)) return;
    std::vector<T> column(perm.size());
    for (Index j = 0; j < a.cols; ++j) {
        std::copy_n(a.column(j), a.rows, column.data());
        for (Index i = 0; i < a.rows; ++i) a(i, j) = column[perm[i]];
    }
}

// Makes an entry that is not finite the first pivot, if there is one.
template <class T> void show_overflow(MatrixView<T> a) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i)
            if (!is_finite(a(i, j))) a(0, 0) = a(i, j);
}

// Permutes the numbers from `first` on.
void permute(std::vector<std::int32_t>& numbers, Index first, std::span<std::int32_t const> perm) {
    if (std::ranges::is_sorted(perm)) return;
    std::vector<std::int32_t> const before(numbers.begin() + first, numbers.end());
    for (std::size_t i = 0; i < before.size(); ++i) numbers[first + i] = before[perm[i]];
}

} // namespace

template <class T>
PivotStats PanelPivots<T>::eliminate_all(DelayedPanel<T>& panel, BlockDivision const* division) const {
    std::vector<std::int32_t> perm(panel.columns());
    MatrixView<T> const square = panel.lower().block(0, 0, panel.columns(), panel.columns());
    PivotStats const stats =
        factor_ldl<T>(form_.conjugate(), square, perm, panel.all_off_diagonal(), threshold_, division);
    solve_panel_ldl<T>(form_.conjugate(), square, perm, panel.all_off_diagonal(),
                       panel.lower().block(panel.columns(), 0, panel.rows_below(), panel.columns()));
    panel.set_pivots(panel.columns(), perm, {});
    return stats;
}

template <class T> bool PanelPivots<T>::from_summed_rows(DelayedPanel<T>& panel,
                                                         BlockDivision const* division,
                                                         SummedPivots<T>& pivots) const {
    Index const m = panel.columns();
    pivots.rows.resize(m);
    pivots.stats = factor_leading(panel.lower().block(0, 0, m, m), pivots.rows, panel.all_off_diagonal(),
                                  division, pivots);
    after_leading(panel, pivots);
    return pivots.stats.zero_column < 0;
}

template <class T>
PivotStats PanelPivots<T>::factor_leading(MatrixView<T> square, std::span<std::int32_t> rows,
                                          std::span<T> off_diagonal, BlockDivision const* division,
                                          SummedPivots<T>& pivots) const {
    pivots.columns.resize(form_.has_upper() ? square.cols : 0);
    ThresholdPivots const found =
        form_.has_upper()
            ? factor_lu_leading<T>(square, rows, pivots.columns, threshold_, division)
            : factor_ldl_leading<T>(form_.conjugate(), square, rows, off_diagonal, threshold_, division);
    pivots.eliminated = found.eliminated;
    return found.stats;
}

template <class T>
void PanelPivots<T>::after_leading(DelayedPanel<T> const& panel, SummedPivots<T>& pivots) const {
    Index const e = pivots.eliminated, rest = panel.columns() - e;
    if (rest == 0 || form_.has_upper()) return;
    if (std::ssize(pivots.scaled) < rest * e) pivots.scaled.resize(rest * e);
    MatrixView<T> const lower = panel.lower();
    multiply_by_d<T>(form_.conjugate(), lower.block(0, 0, e, e), panel.all_off_diagonal().first(e),
                     lower.block(e, 0, rest, e), {pivots.scaled.data(), rest, e, rest});
}

// L21 for the pivots, and A22 - L21 U12 for the other columns, where ldl has U12 = (L12 D)^H or (L12 D)^T.
template <class T> Real<T> PanelPivots<T>::eliminate_rows_of_l(DelayedPanel<T>& panel,
                                                               SummedPivots<T> const& pivots, Index first,
                                                               Index count, Index counted) const {
    Index const m = panel.columns(), e = pivots.eliminated, rest = m - e;
    MatrixView<T> const lower = panel.lower(), square = lower.block(0, 0, e, e);
    MatrixView<T> const rows = lower.block(m + first, 0, count, m), l21 = rows.block(0, 0, count, e);
    Real<T> const largest = form_.has_upper()
                                ? solve_panel_lu<T>(square, l21, counted)
                                : solve_panel_ldl<T>(form_.conjugate(), square, {},
                                                     panel.all_off_diagonal().first(e), l21, counted);
    MatrixView<T> const others = rows.block(0, e, count, rest);
    if (rest > 0 && e > 0 && form_.has_upper())
        subtract_product<T>(Op::none, l21, lower.block(0, e, e, rest), others);
    else if (rest > 0 && e > 0)
        subtract_product<T>(op(), l21, {pivots.scaled.data(), rest, e, rest}, others);
    return largest;
}

// U12 for the pivots, and A22 - L21 U12 for the other rows, transposed.
template <class T> void PanelPivots<T>::eliminate_rows_of_u(DelayedPanel<T>& panel,
                                                            SummedPivots<T> const& pivots, Index first,
                                                            Index count) const {
    Index const e = pivots.eliminated, rest = panel.columns() - e;
    MatrixView<T> const lower = panel.lower(),
                        rows = panel.whole_upper().block(first, 0, count, panel.columns());
    MatrixView<T> const u12 = rows.block(0, 0, count, e);
    solve_right<T>(Op::transpose, Diag::unit, lower.block(0, 0, e, e), u12);
    if (rest > 0 && e > 0)
        subtract_product<T>(Op::transpose, u12, lower.block(e, 0, rest, e), rows.block(0, e, count, rest));
}

// Columns without a pivot in the fully summed rows are tried at the end, with pivots from all rows.
template <class T> PivotStats PanelPivots<T>::finish(DelayedPanel<T>& panel, SummedPivots<T>& pivots) const {
    Index const m = panel.columns(), first = pivots.eliminated;
    ThresholdPivots found;
    if (first < m) found = form_.has_upper() ? finish_lu(panel, pivots) : finish_ldl(panel, pivots);
    Index end = first + found.eliminated;
    if (form_.has_upper() && rows_ == 0 && end < m) { // nothing can be delayed
        found.stats.zero_column = end - first;
        show_overflow(panel.lower().block(end, end, m - end, m - end));
        end = m;
    }
    panel.set_pivots(end, pivots.rows, pivots.columns);
    if (found.stats.zero_column >= 0) found.stats.zero_column += first;
    found.stats += pivots.stats;
    found.stats.delayed = panel.left();
    return found.stats;
}

template <class T>
ThresholdPivots PanelPivots<T>::finish_ldl(DelayedPanel<T>& panel, SummedPivots<T>& pivots) const {
    Index const first = pivots.eliminated, rest = panel.columns() - first;
    MatrixView<T> const lower = panel.lower();
    std::span<std::int32_t> const order = pivots.order_of(rest);
    ThresholdPivots const found = factor_ldl_threshold<T>(
        form_.conjugate(), lower.block(first, first, lower.rows - first, rest), order,
        panel.all_off_diagonal().subspan(first), {static_cast<Real<T>>(rules_.u), threshold_, rows_});
    permute_rows<T>(lower.block(first, 0, rest, first), order);
    permute(pivots.rows, first, order);
    return found;
}

template <class T>
ThresholdPivots PanelPivots<T>::finish_lu(DelayedPanel<T>& panel, SummedPivots<T>& pivots) const {
    Index const first = pivots.eliminated, rest = panel.columns() - first;
    MatrixView<T> const lower = panel.lower(), upper = panel.whole_upper();
    std::span<std::int32_t> const order = pivots.order_of(2 * rest), rows = order.first(rest),
                                  columns = order.last(rest);
    ThresholdPivots const found = factor_lu_threshold<T>(
        lower.block(first, first, lower.rows - first, rest), upper.block(0, first, upper.rows, rest), rows,
        columns, {static_cast<Real<T>>(rules_.u), threshold_, rows_});
    permute_rows<T>(lower.block(first, 0, rest, first), rows);
    permute_columns<T>(lower.block(0, first, first, rest), columns);
    permute(pivots.rows, first, rows);
    permute(pivots.columns, first, columns);
    return found;
}

ESPALIER_INSTANTIATE_CLASS(PanelPivots)

} // namespace espalier
