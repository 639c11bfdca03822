// A(p, :) = L U of a diagonal block with partial pivoting, recursive in columns (Toledo 1997):
//
//     [ A11 A12 ]     factor the left half as [ L11; L21 ] U11;   U12 = L11^-1 A12 (rows interchanged);
//     [ A21 A22 ]     A22 - L21 U12 = L22 U22, and its interchanges in L21 too.
//
// If columns may be postponed, those of the left half without a pivot change places with columns of the right
// half, and wait behind them for the update by its pivots.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/panel.hpp"
#include "kernels/pivot_block.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/product.hpp"
#include "kernels/threshold.hpp"

namespace espalier {

namespace {

constexpr Index lu_leaf_columns = 8;

// Interchange k of the sequence swaps row first + k with row pivots[first + k].
template <class T>
void interchange_rows(MatrixView<T> a, std::span<std::int32_t const> pivots, Index first, Index last) {
    for (Index j = 0; j < a.cols; ++j) {
        T* const column = a.column(j);
        for (Index k = first; k < last; ++k) std::swap(column[k], column[pivots[k]]);
    }
}

template <class T> class LuFactorization {
  public:
    /// Replaces pivots that are too small if `column_perm` is empty, and otherwise postpones their columns.
    LuFactorization(MatrixView<T> a, std::span<std::int32_t> row_perm, std::span<std::int32_t> column_perm,
                    Real<T> threshold, BlockDivision const* division)
        : a_(a), row_of_(a.cols), column_perm_(column_perm), threshold_(threshold), division_(division) {
        std::iota(column_perm.begin(), column_perm.end(), 0);
        Index const pivots = factor(0, a.cols);
        std::iota(row_perm.begin(), row_perm.end(), 0);
        for (Index k = 0; k < pivots; ++k) std::swap(row_perm[k], row_perm[row_of_[k]]);
        result = {stats_, pivots};
    }

    ThresholdPivots result;

  private:
    // Factors columns [first, last). The pivots before are eliminated in them. Returns the number of pivots;
    // columns without a pivot are at the end, and these pivots are eliminated in them, too.
    Index factor(Index first, Index last) {
        Index const width = last - first;
        if (width <= lu_leaf_columns) return factor_leaf(first, last);
        Index const middle = first + (width / 2 + lu_leaf_columns - 1) / lu_leaf_columns * lu_leaf_columns;
        Index const right = last - middle;
        Index const left = factor(first, middle), next = first + left;
        auto const update_columns = [&](Index column, Index count) {
            update(first, next, middle + column, count);
        };
        if (division_ && division_->sizes.divide(width))
            division_->for_each_range(right, update_columns);
        else
            update_columns(0, right);
        for (Index i = 0; i < std::min(middle - next, right); ++i)
            interchange_columns(next + i, last - 1 - i);
        Index const found = factor(next, next + right);
        interchange_rows<T>(a_.block(0, first, a_.rows, left), row_of_, next, next + found);
        if (next < middle) update(next, next + found, next + right, middle - next);
        return left + found;
    }

    // Eliminates pivots [first, last) in other columns.
    void update(Index first, Index last, Index column, Index count) const {
        Index const pivots = last - first, below = a_.rows - last;
        if (pivots == 0) return;
        auto const columns = a_.block(0, column, a_.rows, count);
        auto const upper = columns.block(first, 0, pivots, count);
        interchange_rows<T>(columns, row_of_, first, last);
        solve_unit_lower(a_.block(first, first, pivots, pivots), upper);
        subtract_product<T>(Op::none, a_.block(last, first, below, pivots), upper,
                            columns.block(last, 0, below, count));
    }

    void interchange_columns(Index i, Index j) {
        std::swap_ranges(a_.column(i), a_.column(i) + a_.rows, a_.column(j));
        std::swap(column_perm_[i], column_perm_[j]);
    }

    // B := L^-1 B.
    static void solve_unit_lower(MatrixView<T const> l, MatrixView<T> b) {
        Index const n = l.cols;
        if (n <= 2 * lu_leaf_columns)
            return trsm<T>(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), l, b);
        Index const n1 = (n / 2 + lu_leaf_columns - 1) / lu_leaf_columns * lu_leaf_columns, n2 = n - n1;
        auto const b1 = b.block(0, 0, n1, b.cols);
        auto const b2 = b.block(n1, 0, n2, b.cols);
        solve_unit_lower(l.block(0, 0, n1, n1), b1);
        subtract_product<T>(Op::none, l.block(n1, 0, n2, n1), b1, b2);
        solve_unit_lower(l.block(n1, n1, n2, n2), b2);
    }

    // Right-looking factorization of a few columns.
    Index factor_leaf(Index first, Index last) {
        Index k = first;
        for (Index to_try = last; k < to_try;) {
            Index const row = largest(k);
            if (Real<T> const size = std::abs(a_(row, k));
                !column_perm_.empty() && (size < threshold_ || size == 0)) {
                interchange_columns(k, --to_try);
                continue;
            }
            row_of_[k] = static_cast<std::int32_t>(row);
            if (row != k)
                for (Index j = first; j < last; ++j) std::swap(a_(k, j), a_(row, j));
            if (divide_by_pivot(k)) {
                Index const below = a_.rows - k - 1, right = last - k - 1;
                subtract_product<T>(Op::none, a_.block(k + 1, k, below, 1), a_.block(k, k + 1, 1, right),
                                    a_.block(k + 1, k + 1, below, right));
            }
            ++k;
        }
        return k - first;
    }

    // The row >= k of the largest entry of column k; k if entry k is not finite, which is detected later.
    [[nodiscard]] Index largest(Index k) const {
        T const* const column = a_.column(k) + k;
        auto const found = largest_entry(column, a_.rows - k);
        bool const keep = found.index < 0 || !is_finite(column[0]);
        return keep ? k : k + found.index;
    }

    // Replaces the pivot if it is too small and computes the column of L. Returns false if it cannot be
    // divided by; the column of L is then zero.
    bool divide_by_pivot(Index k) {
        T* const column = a_.column(k);
        Index const rows = a_.rows;
        T& pivot = column[k];
        if (Real<T> const size = std::abs(pivot); size < threshold_) {
            pivot = size == 0 ? T(threshold_) : pivot / size * threshold_;
            ++stats_.replaced;
        }
        if (pivot == T(0) || !is_finite(pivot)) {
            if (stats_.zero_column < 0) stats_.zero_column = k;
            std::fill(column + k + 1, column + rows, T(0));
            return false;
        }
        if (T const inverse = T(1) / pivot; is_finite(inverse))
            for (Index i = k + 1; i < rows; ++i) column[i] = times(column[i], inverse);
        else
            for (Index i = k + 1; i < rows; ++i) column[i] /= pivot;
        return true;
    }

    MatrixView<T> a_;
    std::vector<std::int32_t> row_of_; ///< The row that was interchanged with row k at step k.
    std::span<std::int32_t> column_perm_;
    Real<T> threshold_;
    BlockDivision const* division_;
    PivotStats stats_;
};

} // namespace

template <class T> PivotStats factor_lu(MatrixView<T> a, std::span<std::int32_t> perm, Real<T> threshold,
                                        BlockDivision const* division) {
    return LuFactorization<T>(a, perm, {}, threshold, division).result.stats;
}

template <class T> ThresholdPivots factor_lu_leading(MatrixView<T> a, std::span<std::int32_t> row_perm,
                                                     std::span<std::int32_t> column_perm, Real<T> threshold,
                                                     BlockDivision const* division) {
    return LuFactorization<T>(a, row_perm, column_perm, threshold, division).result;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template PivotStats factor_lu<T>(MatrixView<T>, std::span<std::int32_t>, Real<T>, BlockDivision const*); \
    template ThresholdPivots factor_lu_leading<T>(MatrixView<T>, std::span<std::int32_t>,                    \
                                                  std::span<std::int32_t>, Real<T>, BlockDivision const*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
