// The register tiles of solve_right: X E = B for a few columns, E upper triangular with entry (p, j) at e[p *
// row_stride + j * column_stride]. A tile holds vectors of rows of all its columns and solves from left to
// right. If the rows do not fill the last vector, it is moved up and overlaps the previous vector of the
// tile: both compute the same bits for their common rows, and B is read before it is written.
#pragma once

#include <algorithm>

#include "kernels/vector.hpp"

namespace espalier::vector {

/// The operands with complex numbers as pairs of reals: rows and ldb count reals, the strides of E entries.
template <class R> struct Triangle {
    R const* e;
    Index row_stride, column_stride;
    R const* inverse_diagonal; ///< Null for a unit diagonal.
    R* b;
    Index rows, ldb;
};

// x -= y factor, or y conj(factor), where turned is y times i.
template <class T, class Vector> ESPALIER_INLINE void
subtract_times(Vector& x, Vector const& y, Vector const& turned, Real<T> const* factor, bool conjugate) {
    x -= y * factor[0];
    if constexpr (is_complex<T>) x -= turned * (conjugate ? -factor[1] : factor[1]);
}

// Rows [i, end), where end - i is at least width and at most vectors * width.
template <class T, int width, int vectors, int columns>
ESPALIER_INLINE void solve_rows(Triangle<Real<T>> const& op, bool conjugate, Index i, Index end) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    constexpr int parts = is_complex<T> ? 2 : 1;
    auto const row = [&](int v) ESPALIER_INLINE_LAMBDA { return row_of<width, vectors>(v, i, end); };

    Vector x[columns][vectors], turned[columns][vectors]; // turned: times i
    for (int j = 0; j < columns; ++j)
        for (int v = 0; v < vectors; ++v) {
            Vector& xj = x[j][v];
            load(xj, op.b + row(v) + j * op.ldb);
            for (int p = 0; p < j; ++p)
                subtract_times<T>(xj, x[p][v], turned[p][v],
                                  op.e + parts * (p * op.row_stride + j * op.column_stride), conjugate);
            if (op.inverse_diagonal) {
                R const* const inverse = op.inverse_diagonal + parts * j;
                Vector imaginary = xj;
                xj *= inverse[0];
                if constexpr (is_complex<T>) {
                    times_i<R, width>(imaginary);
                    xj += imaginary * inverse[1];
                }
            }
            turned[j][v] = xj;
            if constexpr (is_complex<T>) times_i<R, width>(turned[j][v]);
        }
    for (int j = 0; j < columns; ++j)
        for (int v = 0; v < vectors; ++v) store(x[j][v], op.b + row(v) + j * op.ldb);
}

// X E = B for `columns` columns and fewer than 2 * width rows.
template <class T, int width, int columns>
ESPALIER_INLINE void solve_columns_of_few_rows(Triangle<Real<T>> const& op, bool conjugate) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return solve_columns_of_few_rows<T, width / 2, columns>(op, conjugate);
    if (op.rows > width)
        solve_rows<T, width, 2, columns>(op, conjugate, 0, op.rows);
    else
        solve_rows<T, width, 1, columns>(op, conjugate, 0, op.rows);
}

/// X E = B for `columns` columns and all rows. Each kind of tile is written once, because the compiler
/// inlines it wherever it is called.
template <class T, int width, int columns>
ESPALIER_INLINE void solve_columns(Triangle<Real<T>> const& op, bool conjugate) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return solve_columns_of_few_rows<T, width / 2, columns>(op, conjugate);
    for (Index i = 0; i < op.rows; i += width) {
        Index const rest = op.rows - i;
        if (rest > width && rest <= 2 * width)
            return solve_rows<T, width, 2, columns>(op, conjugate, i, op.rows);
        solve_rows<T, width, 1, columns>(op, conjugate, i, std::min(i + width, op.rows));
    }
}

} // namespace espalier::vector
