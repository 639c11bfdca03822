// The register tiles of solve_right: X E = B for a few columns, E upper triangular with entry (p, j) at
// e[p * row_stride + j * column_stride]. A tile holds vectors of rows of all its columns, and solves from left
// to right. The last rows are handled as in product_tile.hpp: by a vector moved up over rows that are done,
// which are left as they are.
#pragma once

#include "kernels/vector.hpp"

namespace espalier::vector {

/// Complex numbers are seen as pairs of reals: rows and ldb count reals, the strides of E count entries.
template <class R> struct Triangle {
    R const* e;
    Index row_stride, column_stride;
    R const* inverse_diagonal; ///< Null for a unit diagonal.
    R* b;
    Index rows, ldb;
};

// x -= y factor, or x = x factor; turned is y (or x) times i, used for the imaginary part.
template <class T, class Vector> ESPALIER_INLINE void subtract_times(Vector& x, Vector const& y, Vector const& turned,
                                                                     Real<T> const* factor, bool conjugate) {
    x -= y * factor[0];
    if constexpr (is_complex<T>) x -= turned * (conjugate ? -factor[1] : factor[1]);
}

template <class T, int width, int columns>
ESPALIER_INLINE void solve_rows(Triangle<Real<T>> const& op, bool conjugate, Index i, int fresh_rows) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    constexpr int parts = is_complex<T> ? 2 : 1;
    Vector x[columns], turned[columns];
    for (int j = 0; j < columns; ++j) {
        load(x[j], op.b + i + j * op.ldb);
        for (int p = 0; p < j; ++p)
            subtract_times<T>(x[j], x[p], turned[p], op.e + parts * (p * op.row_stride + j * op.column_stride), conjugate);
        if (op.inverse_diagonal) {
            R const* const inverse = op.inverse_diagonal + parts * j;
            Vector scaled = x[j] * inverse[0];
            if constexpr (is_complex<T>) {
                times_i<R, width>(x[j]);
                scaled += x[j] * inverse[1];
            }
            x[j] = scaled;
        }
        turned[j] = x[j];
        if constexpr (is_complex<T>) times_i<R, width>(turned[j]);
    }
    for (int j = 0; j < columns; ++j) {
        R* const b = op.b + i + j * op.ldb;
        if (fresh_rows < width) {
            Vector done;
            load(done, b);
            take_last<R, width>(done, x[j], fresh_rows);
            store(done, b);
        } else {
            store(x[j], b);
        }
    }
}

/// X E = B for `columns` columns and all rows.
template <class T, int width, int columns>
ESPALIER_INLINE void solve_columns(Triangle<Real<T>> const& op, bool conjugate) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return solve_columns<T, width / 2, columns>(op, conjugate);
    Index i = 0;
    for (; i + width <= op.rows; i += width) solve_rows<T, width, columns>(op, conjugate, i, width);
    if constexpr (width > narrowest<T>)
        if (i < op.rows) solve_rows<T, width, columns>(op, conjugate, op.rows - width, static_cast<int>(op.rows - i));
}

} // namespace espalier::vector
