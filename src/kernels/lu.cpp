// A(p, :) = L U of a diagonal block with partial pivoting, recursive in columns (Toledo 1997):
//
//     [ A11 A12 ]     factor the left half as [ L11; L21 ] U11;   U12 = L11^-1 A12 (rows interchanged);
//     [ A21 A22 ]     A22 - L21 U12 = L22 U22, and its interchanges in L21 too.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/panel.hpp"
#include "kernels/pivot_block.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/product.hpp"

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

template <class T> struct LuFactorization {
    std::span<std::int32_t> pivots; ///< pivots[k]: the row that was swapped with row k at step k.
    Real<T> threshold;
    BlockDivision const* division;
    PivotStats stats;

    // Factors columns [first, last) of `a`, which has all rows of the block. The columns before are factored.
    void factor(MatrixView<T> a, Index first, Index last) {
        Index const width = last - first;
        if (width <= lu_leaf_columns) return factor_leaf(a, first, last);
        Index const middle = first + (width / 2 + lu_leaf_columns - 1) / lu_leaf_columns * lu_leaf_columns;
        Index const left = middle - first, right = last - middle, below = a.rows - middle;

        factor(a, first, middle);
        auto const update_columns = [&](Index column, Index count) {
            auto const columns = a.block(0, middle + column, a.rows, count);
            auto const upper = columns.block(first, 0, left, count);
            interchange_rows<T>(columns, pivots, first, middle);
            solve_unit_lower(a.block(first, first, left, left), upper);
            subtract_product<T>(Op::none, a.block(middle, first, below, left), upper,
                                columns.block(middle, 0, below, count));
        };
        if (division && division->sizes.divide(width))
            division->for_each_range(right, update_columns);
        else
            update_columns(0, right);
        factor(a, middle, last);
        interchange_rows<T>(a.block(0, first, a.rows, left), pivots, middle, last);
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
    void factor_leaf(MatrixView<T> a, Index first, Index last) {
        for (Index k = first; k < last; ++k) {
            pivots[k] = static_cast<std::int32_t>(largest(a, k));
            if (pivots[k] != k)
                for (Index j = first; j < last; ++j) std::swap(a(k, j), a(pivots[k], j));
            T* const l = a.column(k);
            if (!divide_by_pivot(k, l, a.rows)) continue;
            Index const below = a.rows - k - 1, right = last - k - 1;
            subtract_product<T>(Op::none, a.block(k + 1, k, below, 1), a.block(k, k + 1, 1, right),
                                a.block(k + 1, k + 1, below, right));
        }
    }

    // The row >= k of the largest entry of column k; k if entry k is not finite, which is detected later.
    static Index largest(MatrixView<T> a, Index k) {
        T const* const column = a.column(k) + k;
        auto const found = largest_entry(column, a.rows - k);
        bool const keep = found.index < 0 || !is_finite(column[0]);
        return keep ? k : k + found.index;
    }

    // Replaces the pivot if it is too small and computes the column of L. Returns false if it cannot be
    // divided by; the column of L is then zero.
    bool divide_by_pivot(Index k, T* column, Index rows) {
        T& pivot = column[k];
        if (Real<T> const size = std::abs(pivot); size < threshold) {
            pivot = size == 0 ? T(threshold) : pivot / size * threshold;
            ++stats.replaced;
        }
        if (pivot == T(0) || !is_finite(pivot)) {
            if (stats.zero_column < 0) stats.zero_column = k;
            std::fill(column + k + 1, column + rows, T(0));
            return false;
        }
        if (T const inverse = T(1) / pivot; is_finite(inverse))
            for (Index i = k + 1; i < rows; ++i) column[i] = times(column[i], inverse);
        else
            for (Index i = k + 1; i < rows; ++i) column[i] /= pivot;
        return true;
    }
};

} // namespace

template <class T> PivotStats factor_lu(MatrixView<T> a, std::span<std::int32_t> perm, Real<T> threshold,
                                        BlockDivision const* division) {
    // perm contains the interchanges of the steps until they are converted to a permutation.
    LuFactorization<T> lu{perm, threshold, division, {}};
    if (a.cols > 0) lu.factor(a, 0, a.cols);
    std::vector<std::int32_t> rows(perm.size());
    std::iota(rows.begin(), rows.end(), 0);
    for (Index k = 0; k < std::ssize(rows); ++k) std::swap(rows[k], rows[perm[k]]);
    std::ranges::copy(rows, perm.begin());
    return lu.stats;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template PivotStats factor_lu<T>(MatrixView<T>, std::span<std::int32_t>, Real<T>, BlockDivision const*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
