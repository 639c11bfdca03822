// The register tiles of the products of A(m x k) and B(k x n) into C(m x n), where entry (p, j) of B lies at
// b[p * depth_stride + j * column_stride], so that B and B^T are the same code; `Stride` is the type of
// column_stride, a constant 1 for B^T, where the entries of a row then have constant addresses. Everything is
// inlined into functions compiled for one instruction set.
//
// A tile holds `vectors` x `columns` accumulators in registers and loops over k: it multiplies a few vectors
// of rows of A with a row of broadcast entries of B. If the rows do not fill the last vector, it is moved up
// and overlaps the previous vector of the tile: both compute the same bits for their common rows, and C is
// read before it is written. (A load that overlaps a recent store would wait for that store.)
#pragma once

#include <algorithm>

#include "kernels/vector.hpp"

namespace espalier::vector {

/// The operation on C.
enum class Into { assign, subtract };

/// A stride of 1 known at compile time.
using UnitStride = std::integral_constant<Index, 1>;

/// The operands with complex numbers as pairs of reals: rows, lda, ldc count reals, the strides of B entries.
template <class R, class Stride> struct Operands {
    Index rows, columns, depth;
    R const* a;
    Index lda;
    R const* b;
    Index depth_stride;
    Stride column_stride;
    R* c;
    Index ldc;
    Into into;
};

// Rows [i, end) of columns [j, j + columns), where end - i is at most vectors * width, and at least width.
template <class T, int width, int vectors, int columns, class Stride> ESPALIER_INLINE void
tile(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index i, Index end, Index j) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    constexpr int parts = is_complex<T> ? 2 : 1;
    auto const row = [&](int v) ESPALIER_INLINE_LAMBDA { return row_of<width, vectors>(v, i, end); };

    Vector sum[parts][columns][vectors] = {}; // A Re(B) and A Im(B)
    R const* a = op.a;
    R const* b = op.b + parts * j * op.column_stride;
    for (Index p = 0; p < op.depth; ++p, a += op.lda, b += parts * op.depth_stride) {
        Vector rows[vectors];
        for (int v = 0; v < vectors; ++v) load(rows[v], a + row(v));
        for (int q = 0; q < columns; ++q)
            for (int part = 0; part < parts; ++part) {
                R const factor = b[parts * q * op.column_stride + part];
                for (int v = 0; v < vectors; ++v) sum[part][q][v] += rows[v] * factor;
            }
    }
    auto const finish = [&]<Into into>(std::integral_constant<Into, into>) ESPALIER_INLINE_LAMBDA {
        for (int q = 0; q < columns; ++q) {
            R* const c = op.c + (j + q) * op.ldc;
            Vector total[vectors];
            for (int v = 0; v < vectors; ++v) {
                total[v] = sum[0][q][v];
                if constexpr (is_complex<T>) {
                    Vector imaginary = sum[1][q][v];
                    times_i<R, width>(imaginary);
                    total[v] = conjugate_b ? total[v] - imaginary : total[v] + imaginary;
                }
                if constexpr (into == Into::subtract) {
                    Vector old;
                    load(old, c + row(v));
                    total[v] = old - total[v];
                }
            }
            for (int v = 0; v < vectors; ++v) store(total[v], c + row(v));
        }
    };
    if (op.into == Into::subtract)
        finish(std::integral_constant<Into, Into::subtract>());
    else
        finish(std::integral_constant<Into, Into::assign>());
}

// Fewer than 2 * width rows of columns [j, j + columns).
template <class T, int width, int columns, class Stride>
ESPALIER_INLINE void strip_of_few_rows(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index j) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return strip_of_few_rows<T, width / 2, columns>(op, conjugate_b, j);
    if (op.rows > width)
        tile<T, width, 2, columns>(op, conjugate_b, 0, op.rows, j);
    else
        tile<T, width, 1, columns>(op, conjugate_b, 0, op.rows, j);
}

// All rows of columns [j, j + columns): tiles of two vectors, and one or three vectors for an odd rest. Each kind of
// tile is written once, because the compiler inlines it wherever it is called.
template <class T, int width, int columns, class Stride>
ESPALIER_INLINE void strip(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index j) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return strip_of_few_rows<T, width / 2, columns>(op, conjugate_b, j);
    Index i = 0;
    for (; op.rows - i > width; i += 2 * width) {
        Index const rest = op.rows - i;
        if (rest > 2 * width && rest <= 3 * width) return tile<T, width, 3, columns>(op, conjugate_b, i, op.rows, j);
        tile<T, width, 2, columns>(op, conjugate_b, i, std::min(i + 2 * width, op.rows), j);
    }
    if (i < op.rows) tile<T, width, 1, columns>(op, conjugate_b, i, op.rows, j);
}

/// Strips of `columns` columns, then of half as many.
template <class T, int width, int columns, class Stride>
ESPALIER_INLINE void product(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index j = 0) {
    for (; j + columns <= op.columns; j += columns) strip<T, width, columns>(op, conjugate_b, j);
    if constexpr (columns > 1) product<T, width, columns / 2>(op, conjugate_b, j);
}

} // namespace espalier::vector
