#include "factor/panel_pivots.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "factor/pivots.hpp"
#include "kernels/pivot_search.hpp"
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

template <class T> PivotStats PanelPivots<T>::eliminate_all(DelayedPanel<T>& panel) const {
    std::vector<std::int32_t> perm(panel.columns());
    MatrixView<T> const diagonal = panel.lower().block(0, 0, panel.columns(), panel.columns());
    PivotStats const stats =
        form_.has_upper()
            ? factor_lu<T>(diagonal, perm, threshold_)
            : factor_ldl<T>(form_.conjugate(), diagonal, perm, panel.all_off_diagonal(), threshold_);
    panel.set_pivots(panel.columns(), perm, {});
    panel.is_odd = is_odd(perm);
    if (form_.has_upper()) {
        solve_right<T>(Op::none, Diag::non_unit, diagonal, panel.below());
        permute_columns<T>(panel.upper(), perm);
        solve_right<T>(Op::transpose, Diag::unit, diagonal, panel.upper());
    } else {
        solve_panel_ldl<T>(form_.conjugate(), diagonal, perm, panel.off_diagonal(), panel.below());
    }
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

template <class T> bool PanelPivots<T>::from_summed_rows(DelayedPanel<T>& panel, PivotStats& stats) const {
    if (form_.has_d()) {
        std::vector<std::int32_t> perm(panel.columns());
        MatrixView<T> const square = panel.lower().block(0, 0, panel.columns(), panel.columns());
        auto const found =
            factor_ldl_leading<T>(form_.conjugate(), square, perm, panel.all_off_diagonal(), threshold_);
        return after_leading(panel, found, perm, stats);
    }
    stats = eliminate_all(panel);
    return stats.replaced == 0 && stats.zero_column < 0 && bounds_l(panel.below());
}

template <class T> bool PanelPivots<T>::bounds_l(MatrixView<T const> below) const {
    auto const most = static_cast<Real<T>>(rules_.growth);
    for (Index j = 0; j < below.cols; ++j)
        if (!(largest_size(below.column(j), rows_) <= most)) return false;
    return true;
}

// Columns without a pivot in the fully summed rows are tried at the end, with pivots from all rows.
template <class T>
bool PanelPivots<T>::after_leading(DelayedPanel<T>& panel, ThresholdPivots const& found, std::span<std::int32_t> perm,
                                   PivotStats& stats) const {
    if (found.stats.replaced > 0 || found.stats.zero_column >= 0) return false;
    Index const m = panel.columns(), pivots = found.eliminated;
    MatrixView<T> const lower = panel.lower();
    permute_columns<T>(lower.block(m, 0, lower.rows - m, m), perm);
    eliminate_below_ldl(panel, pivots);
    if (!bounds_l(lower.block(m, 0, lower.rows - m, pivots))) return false;
    stats = found.stats;
    stats += finish_ldl(panel, pivots, perm);
    return true;
}

// Computes L21 for the first pivots, and updates the other columns: A22 - L21 (L12 D)^H or (L12 D)^T.
template <class T> void PanelPivots<T>::eliminate_below_ldl(DelayedPanel<T>& panel, Index pivots) const {
    Index const m = panel.columns(), rest = m - pivots;
    MatrixView<T> const lower = panel.lower(), square = lower.block(0, 0, pivots, pivots);
    MatrixView<T> const below = lower.block(m, 0, lower.rows - m, m), l21 = below.block(0, 0, below.rows, pivots);
    std::vector<std::int32_t> in_order(pivots);
    std::iota(in_order.begin(), in_order.end(), 0);
    std::span<T const> const off_diagonal = panel.all_off_diagonal().first(pivots);
    solve_panel_ldl<T>(form_.conjugate(), square, in_order, off_diagonal, l21);
    if (rest == 0 || pivots == 0) return;
    std::vector<T> memory(rest * pivots);
    MatrixView<T> const scaled{memory.data(), rest, pivots, rest};
    multiply_by_d<T>(form_.conjugate(), square, off_diagonal, lower.block(pivots, 0, rest, pivots), scaled);
    subtract_product<T>(form_.conjugate() ? Op::adjoint : Op::transpose, l21, scaled,
                        below.block(0, pivots, below.rows, rest));
}

// Eliminates the columns from `first` on with respect to all rows. `perm` has the rows and columns so far.
template <class T>
PivotStats PanelPivots<T>::finish_ldl(DelayedPanel<T>& panel, Index first, std::span<std::int32_t> perm) const {
    Index const m = panel.columns(), rest = m - first;
    MatrixView<T> const lower = panel.lower();
    std::vector<std::int32_t> order(rest);
    ThresholdPivots const found = factor_ldl_threshold<T>(
        form_.conjugate(), lower.block(first, first, lower.rows - first, rest), order,
        panel.all_off_diagonal().subspan(first), {static_cast<Real<T>>(rules_.u), threshold_, rows_});
    permute_rows<T>(lower.block(first, 0, rest, first), order);
    permute(perm.subspan(first), order);
    panel.set_pivots(first + found.eliminated, perm, {});
    panel.is_odd = is_odd(perm);
    PivotStats stats = found.stats;
    if (stats.zero_column >= 0) stats.zero_column += first;
    stats.delayed = panel.left();
    return stats;
}

ESPALIER_INSTANTIATE_CLASS(PanelPivots)

} // namespace espalier
