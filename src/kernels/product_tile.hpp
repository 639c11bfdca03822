// The register tiles of the products of A(m x k) and B(k x n) into C(m x n), where entry (p, j) of B lies at
// b[p * depth_stride + j * column_stride], so that B and B^T are the same code; `Stride` is the type of
// column_stride, a constant 1 for B^T, where the entries of a row then have constant addresses. Everything is
// inlined into functions compiled for one instruction set.
//
// A tile holds `vectors` x `columns` accumulators in registers and walks down k: a few vectors of rows of A
// against a row of broadcast entries of B. Where the rows left over do not fill the last vector, it is moved
// up over rows that are done already, and leaves those as they are.
#pragma once

#include "kernels/vector.hpp"

namespace espalier::vector {

enum class Into { assign, add, subtract };

using UnitStride = std::integral_constant<Index, 1>;

/// The operands, with complex numbers seen as pairs of reals: rows and ld of A and C count reals, the
/// strides of B count entries.
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

// Rows [i, i + vectors * width), or with `overlap` rows [i, op.rows), of columns [j, j + columns).
template <class T, int width, int vectors, int columns, bool overlap, class Stride>
ESPALIER_INLINE void tile(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index i, Index j) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    constexpr int parts = is_complex<T> ? 2 : 1;
    Index const last = overlap ? op.rows - width : i + (vectors - 1) * width;
    auto const row = [&](int v) ESPALIER_INLINE_LAMBDA { return v == vectors - 1 ? last : i + v * width; };

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
    for (int q = 0; q < columns; ++q)
        for (int v = 0; v < vectors; ++v) {
            Vector total = sum[0][q][v];
            if constexpr (is_complex<T>) {
                Vector imaginary = sum[1][q][v];
                times_i<R, width>(imaginary);
                total = conjugate_b ? total - imaginary : total + imaginary;
            }
            R* const c = op.c + row(v) + (j + q) * op.ldc;
            Vector old;
            load(old, c);
            if (op.into == Into::subtract) total = old - total;
            else if (op.into == Into::add) total = old + total;
            if constexpr (overlap)
                if (v == vectors - 1) {
                    take_last<R, width>(old, total, static_cast<int>(op.rows - i - (vectors - 1) * width));
                    total = old;
                }
            store(total, c);
        }
}

// The `rest` > 0 rows from i on, by the fewest vectors that hold them.
template <class T, int width, int vectors, int columns, class Stride>
ESPALIER_INLINE void remainder(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index i, Index j) {
    if constexpr (vectors > 1)
        if (op.rows - i <= (vectors - 1) * width) return remainder<T, width, vectors - 1, columns>(op, conjugate_b, i, j);
    constexpr bool overlap = width > narrowest<T>;
    tile<T, width, vectors, columns, overlap>(op, conjugate_b, i, j);
}

// All rows of columns [j, j + columns).
template <class T, int width, int vectors, int columns, class Stride>
ESPALIER_INLINE void strip(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index j) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return strip<T, width / 2, 2, columns>(op, conjugate_b, j);
    Index i = 0;
    for (; i + width * vectors <= op.rows; i += width * vectors)
        tile<T, width, vectors, columns, false>(op, conjugate_b, i, j);
    if (i < op.rows) remainder<T, width, vectors, columns>(op, conjugate_b, i, j);
}

/// Strips of `columns` columns, then of half as many, each with as many vectors as the accumulators allow.
template <class T, int width, int accumulators, int columns, class Stride>
ESPALIER_INLINE void product(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index j = 0) {
    constexpr int per_vector = columns * (is_complex<T> ? 2 : 1);
    constexpr int vectors = std::min(accumulators / per_vector, 4);
    for (; j + columns <= op.columns; j += columns) strip<T, width, vectors, columns>(op, conjugate_b, j);
    if constexpr (columns > 1) product<T, width, accumulators, columns / 2>(op, conjugate_b, j);
}

} // namespace espalier::vector
