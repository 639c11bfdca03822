// The register tiles of solve_right: X E = B, E upper triangular. Entry (p, j) of E lies at e[p *
// depth_stride
// + j * column_stride], so that E and the transpose of a lower triangle are the same code; `Stride` is the
// type of column_stride, a constant 1 for the transpose.
//
// Tiles solve for some rows of X from left to right, a few columns at a time: a tile subtracts the product of
// the columns of X before it with its part of E, as in product_tile.hpp, and solves with the triangle on the
// diagonal in registers. The columns of X are copied to consecutive memory, where the tiles to the right read
// them. If the rows do not fill the last vector, it is moved up and overlaps the previous vector of the tile:
// both compute the same bits for their common rows, and B is read before it is written.
#pragma once

#include "kernels/product_tile.hpp"
#include "kernels/vector.hpp"

namespace espalier::vector {

/// The operands with complex numbers as pairs of reals: rows and ldb count reals, the strides of E entries.
template <class R, class Stride> struct Triangle {
    Index rows, columns;
    R const* e;
    Index depth_stride;
    Stride column_stride;
    R const* inverse_diagonal; ///< Null for a unit diagonal.
    R* b;
    Index ldb;
    R* solved; ///< Memory for most_vectors vectors of rows of X, aligned.
};

// x -= y factor, or y conj(factor), where turned is y times i.
template <class T, class Vector> ESPALIER_INLINE void
subtract_times(Vector& x, Vector const& y, Vector const& turned, Real<T> const* factor, bool conjugate) {
    x -= y * factor[0];
    if constexpr (is_complex<T>) x -= turned * (conjugate ? -factor[1] : factor[1]);
}

// x := x factor for the inverse of a diagonal entry.
template <class T, int width> ESPALIER_INLINE void scale(VectorOf<Real<T>, width>& x, Real<T> const* factor) {
    VectorOf<Real<T>, width> turned = x;
    x *= factor[0];
    if constexpr (is_complex<T>) {
        times_i<Real<T>, width>(turned);
        x += turned * factor[1];
    }
}

// Columns [j, j + columns) of rows [i, end), where end - i is at most vectors * width, and at least width.
template <class T, int width, int vectors, int columns, class Stride>
ESPALIER_INLINE void solve_tile(Triangle<Real<T>, Stride> const& op, bool conjugate, Index i, Index end,
                                Index j, RowsAhead<Real<T>>& below) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    constexpr int parts = is_complex<T> ? 2 : 1;
    auto const row = [&](int v) ESPALIER_INLINE_LAMBDA { return row_of<width, vectors>(v, i, end); };

    TileSums<T, width, vectors, columns> sums;
    R const* x = op.solved;
    R const* e = op.e + parts * j * op.column_stride;
    auto const step = [&]() ESPALIER_INLINE_LAMBDA {
        sums.add(x, (vectors - 1) * width, e, op.column_stride);
        x += vectors * width;
        e += parts * op.depth_stride;
    };
    Index p = 0;
    if constexpr (vectors > 1 && parts * columns >= 8) {
        constexpr int lines = vectors + 1; // of a column of the rows below
        for (; p + lines <= j; p += lines) {
            R const* const next = below.take(lines, x);
            [&]<int... line>(std::integer_sequence<int, line...>) ESPALIER_INLINE_LAMBDA {
                ((__builtin_prefetch(next + line * reals_of_line<R>, 1, 2), step()), ...);
            }
            (std::make_integer_sequence<int, lines>());
        }
    }
    for (; p < j; ++p) step();

    Vector solved[columns][vectors], turned[columns][vectors]; // turned: times i
    for (int q = 0; q < columns; ++q)
        for (int v = 0; v < vectors; ++v) {
            Vector& xq = solved[q][v];
            load(xq, op.b + row(v) + (j + q) * op.ldb);
            Vector product;
            sums.get(product, q, v, conjugate);
            xq -= product;
            for (int k = 0; k < q; ++k)
                subtract_times<T>(xq, solved[k][v], turned[k][v],
                                  e + parts * (k * op.depth_stride + q * op.column_stride), conjugate);
            if (op.inverse_diagonal) scale<T, width>(xq, op.inverse_diagonal + parts * (j + q));
            turned[q][v] = xq;
            if constexpr (is_complex<T>) times_i<R, width>(turned[q][v]);
        }
    bool const is_read_again = j + columns < op.columns;
    for (int q = 0; q < columns; ++q)
        for (int v = 0; v < vectors; ++v) {
            store(solved[q][v], op.b + row(v) + (j + q) * op.ldb);
            if (is_read_again) store(solved[q][v], op.solved + ((j + q) * vectors + v) * width);
        }
}

// The tiles of rows [i, end) for all columns, from left to right.
template <class T, int width, int vectors, int most, class Stride>
ESPALIER_INLINE void solve_rows(Triangle<Real<T>, Stride> const& op, bool conjugate, Index i, Index end) {
    RowsAhead<Real<T>> below;
    if (end < op.rows) below = {op.b + end, op.ldb, vectors * width, op.columns, 1};
    visit_columns<most>(op.columns, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
        solve_tile<T, width, vectors, decltype(columns)::value>(op, conjugate, i, end, j, below);
    });
}

// Fewer than 2 * width rows.
template <class T, int width, int columns, class Stride>
ESPALIER_INLINE void solve_few_rows(Triangle<Real<T>, Stride> const& op, bool conjugate) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return solve_few_rows<T, width / 2, columns>(op, conjugate);
    if (op.rows > width)
        solve_rows<T, width, 2, columns>(op, conjugate, 0, op.rows);
    else
        solve_rows<T, width, 1, columns>(op, conjugate, 0, op.rows);
}

/// All rows, by tiles of `preferred` vectors. Each kind of tile is written once, because the compiler inlines
/// it wherever it is called.
template <class T, int width, int preferred, int columns, class Stride>
ESPALIER_INLINE void solve(Triangle<Real<T>, Stride> const& op, bool conjugate) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return solve_few_rows<T, width / 2, columns>(op, conjugate);
    visit_rows<width, preferred>(0, op.rows, [&](auto vectors, Index i, Index end) ESPALIER_INLINE_LAMBDA {
        solve_rows<T, width, decltype(vectors)::value, columns>(op, conjugate, i, end);
    });
}

} // namespace espalier::vector
