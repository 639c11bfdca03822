// Updates of a column of an LU factorization without supernodes with columns of L that have the same rows.
// One pass over these rows serves a few columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/scalar.hpp"

namespace espalier {

/// At most this many columns of L are eliminated together.
constexpr int most_joined_columns = 4;

/// The number of columns of L to eliminate together: `first`, and those after it that are joined to the
/// column before them and have an entry of U. These entries are in the rows row_at(c) for c < `most`, of
/// which row_at(0) is `first`.
template <class RowAt> [[gnu::always_inline]] inline int
joined_width(std::uint8_t const* is_joined, std::int32_t first, Offset most, RowAt const& row_at) {
    int width = 1;
    while (is_joined[first + width] && width < most && row_at(width) == first + width) ++width;
    return width;
}

/// A column of L.
struct EliminatingColumn {
    std::int32_t pivot_row;
    Offset begin;
    std::int32_t size;
};

/// Consecutive columns of L. Each one has the rows of the column before it without the first one, which is
/// the pivot row of the column.
template <class T, int W> struct JoinedColumns {
    /// column_at(c) is an EliminatingColumn.
    template <class ColumnAt>
    [[gnu::always_inline]] JoinedColumns(std::int32_t const* row_ind, T const* entries,
                                         ColumnAt const& column_at)
        : ind(row_ind), values(entries) {
        for (int c = 0; c < W; ++c) {
            EliminatingColumn const column = column_at(c);
            pivot_row[c] = column.pivot_row;
            begin[c] = column.begin;
            size = column.size;
        }
    }

    std::array<std::int32_t, W> pivot_row;
    std::array<Offset, W> begin; ///< Its first entry in `ind` and `values`.
    std::int32_t size;           ///< The entries of the last column.
    std::int32_t const* ind;
    T const* values;
};

/// x := x - L u. Here u are the W entries of U, which are written to `u` and replaced by zeros in x. Returns
/// the larger of `largest` and their moduli.
template <int W, class T> [[gnu::always_inline]] inline Real<T>
eliminate_columns(T* x, JoinedColumns<T, W> const& columns, T* u, Real<T> largest) {
    T const* l[W];
    T y[W];
    for (int c = 0; c < W; ++c) {
        y[c] = std::exchange(x[columns.pivot_row[c]], T(0));
        for (int d = 0; d < c; ++d) y[c] -= columns.values[columns.begin[d] + c - d - 1] * y[d];
        u[c] = y[c];
        largest = std::max(largest, abs1(y[c]));
        l[c] = columns.values + columns.begin[c] + (W - 1 - c);
    }
    std::int32_t const* const ind = columns.ind + columns.begin[W - 1];
    auto const product = [&](std::int32_t p) {
        T sum = l[0][p] * y[0];
        for (int c = 1; c < W; ++c) sum += l[c][p] * y[c];
        return sum;
    };
    // The rows of a column differ, so that a few entries can be read before any is written.
    constexpr int rows_together = W > 1 ? 4 : 1;
    std::int32_t p = 0;
    for (; p + rows_together <= columns.size; p += rows_together) {
        T entry[rows_together];
        for (int r = 0; r < rows_together; ++r) entry[r] = x[ind[p + r]] - product(p + r);
        for (int r = 0; r < rows_together; ++r) x[ind[p + r]] = entry[r];
    }
    for (; p < columns.size; ++p) x[ind[p]] -= product(p);
    return largest;
}

/// Calls step.operator()<W>() for W = `width`, 1 to most_joined_columns.
template <class Step> void with_joined_columns(int width, Step const& step) {
    static_assert(most_joined_columns == 4);
    if (width == 1) return step.template operator()<1>(); // most often
    switch (width) {
    case 2:
        return step.template operator()<2>();
    case 3:
        return step.template operator()<3>();
    default:
        return step.template operator()<4>();
    }
}

} // namespace espalier
