#include "factor/panel_pivots.hpp"

#include <algorithm>
#include <numeric>
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

void permute(std::span<std::int32_t> numbers, std::span<std::int32_t const> perm) {
    std::vector<std::int32_t> const before(numbers.begin(), numbers.end());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = before[perm[i]];
}

} // namespace

template <class T>
PivotStats PanelPivots<T>::eliminate_all(DelayedPanel<T>& panel, BlockDivision const* division) const {
    std::vector<std::int32_t> perm(panel.columns());
    MatrixView<T> const square = panel.lower().block(0, 0, panel.columns(), panel.columns());
    PivotStats const stats =
        factor_ldl<T>(form_.conjugate(), square, perm, panel.all_off_diagonal(), threshold_, division);
    panel.set_pivots(panel.columns(), perm, {});
    solve_panel_ldl<T>(form_.conjugate(), square, perm, panel.off_diagonal(), panel.below());
    return stats;
}

template <class T> PivotStats PanelPivots<T>::from_all_rows(DelayedPanel<T>& panel) const {
    std::vector<std::int32_t> row_perm(panel.columns());
    if (form_.has_d()) {
        std::iota(row_perm.begin(), row_perm.end(), 0);
        return finish_ldl(panel, 0, row_perm);
    }
    std::vector<std::int32_t> column_perm(panel.columns());
    ThresholdPivots const found =
        factor_lu_threshold<T>(panel.lower(), panel.whole_upper(), row_perm, column_perm,
                               {static_cast<Real<T>>(rules_.u), threshold_, rows_});
    PivotStats stats = found.stats;
    if (Index const e = found.eliminated; rows_ == 0 && e < panel.columns()) {
        stats.zero_column = e;
        show_overflow(panel.lower().block(e, e, panel.columns() - e, panel.columns() - e));
    }
    panel.set_pivots(rows_ == 0 ? panel.columns() : found.eliminated, row_perm, column_perm);
    panel.is_odd = is_odd(row_perm) != is_odd(column_perm);
    stats.delayed = panel.left();
    return stats;
}

template <class T> bool PanelPivots<T>::from_summed_rows(DelayedPanel<T>& panel,
                                                         BlockDivision const* division,
                                                         SummedPivots<T>& pivots) const {
    Index const m = panel.columns();
    MatrixView<T> const square = panel.lower().block(0, 0, m, m);
    pivots.perm.resize(m);
    ThresholdPivots const found =
        form_.has_upper() ? ThresholdPivots{factor_lu<T>(square, pivots.perm, threshold_, division), m}
                          : factor_ldl_leading<T>(form_.conjugate(), square, pivots.perm,
                                                  panel.all_off_diagonal(), threshold_, division);
    if (found.stats.replaced > 0 || found.stats.zero_column >= 0) return false;
    after_leading(panel, found, pivots);
    return true;
}

template <class T> void PanelPivots<T>::after_leading(DelayedPanel<T> const& panel,
                                                      ThresholdPivots const& found,
                                                      SummedPivots<T>& pivots) const {
    Index const e = found.eliminated, rest = panel.columns() - e;
    pivots.stats = found.stats;
    pivots.eliminated = e;
    if (rest == 0) return;
    if (std::ssize(pivots.scaled) < rest * e) pivots.scaled.resize(rest * e);
    MatrixView<T> const lower = panel.lower();
    multiply_by_d<T>(form_.conjugate(), lower.block(0, 0, e, e), panel.all_off_diagonal().first(e),
                     lower.block(e, 0, rest, e), {pivots.scaled.data(), rest, e, rest});
}

// L21 for the pivots, and A22 - L21 (L12 D)^H or (L12 D)^T for the other columns of ldl.
template <class T> bool PanelPivots<T>::eliminate_rows_of_l(DelayedPanel<T>& panel,
                                                            SummedPivots<T> const& pivots, Index first,
                                                            Index count) const {
    Index const m = panel.columns(), e = pivots.eliminated, rest = m - e;
    Index const counted = std::clamp<Index>(rows_ - first, 0, count);
    MatrixView<T> const lower = panel.lower(), square = lower.block(0, 0, e, e);
    MatrixView<T> const rows = lower.block(m + first, 0, count, m), l21 = rows.block(0, 0, count, e);
    auto const most = static_cast<Real<T>>(rules_.growth);
    if (form_.has_upper()) return solve_panel_lu<T>(square, l21, counted) <= most;
    Real<T> const largest =
        solve_panel_ldl<T>(form_.conjugate(), square, {}, panel.all_off_diagonal().first(e), l21, counted);
    if (rest > 0 && e > 0)
        subtract_product<T>(op(), l21, {pivots.scaled.data(), rest, e, rest}, rows.block(0, e, count, rest));
    return largest <= most;
}

template <class T>
void PanelPivots<T>::eliminate_rows_of_u(DelayedPanel<T>& panel, Index first, Index count) const {
    Index const m = panel.columns();
    solve_right<T>(Op::transpose, Diag::unit, panel.lower().block(0, 0, m, m),
                   panel.whole_upper().block(first, 0, count, m));
}

// Columns of ldl without a pivot in the fully summed rows are tried at the end, with pivots from all rows.
template <class T> PivotStats PanelPivots<T>::finish(DelayedPanel<T>& panel, SummedPivots<T>& pivots) const {
    PivotStats stats = pivots.stats;
    if (form_.has_d()) {
        stats += finish_ldl(panel, pivots.eliminated, pivots.perm);
    } else {
        panel.set_pivots(panel.columns(), pivots.perm, {});
        panel.is_odd = is_odd(pivots.perm);
    }
    return stats;
}

// Eliminates the columns from `first` on with respect to all rows. `perm` has the rows and columns so far.
template <class T> PivotStats PanelPivots<T>::finish_ldl(DelayedPanel<T>& panel, Index first,
                                                         std::span<std::int32_t> perm) const {
    Index const m = panel.columns(), rest = m - first;
    if (rest == 0) {
        panel.set_pivots(m, perm, {});
        return {};
    }
    MatrixView<T> const lower = panel.lower();
    std::vector<std::int32_t> order(rest);
    ThresholdPivots const found = factor_ldl_threshold<T>(
        form_.conjugate(), lower.block(first, first, lower.rows - first, rest), order,
        panel.all_off_diagonal().subspan(first), {static_cast<Real<T>>(rules_.u), threshold_, rows_});
    permute_rows<T>(lower.block(first, 0, rest, first), order);
    permute(perm.subspan(first), order);
    panel.set_pivots(first + found.eliminated, perm, {});
    PivotStats stats = found.stats;
    if (stats.zero_column >= 0) stats.zero_column += first;
    stats.delayed = panel.left();
    return stats;
}

ESPALIER_INSTANTIATE_CLASS(PanelPivots)

} // namespace espalier
