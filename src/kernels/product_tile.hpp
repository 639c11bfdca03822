// The register tiles of the products of A(m x k) and B(k x n) into C(m x n), where entry (p, j) of B lies at
// b[p * depth_stride + j * column_stride], so that B and B^T are the same code; `Stride` is the type of
// column_stride, a constant 1 for B^T, where the entries of a row then have constant addresses. Everything is
// inlined into functions compiled for one instruction set.
//
// A tile holds `vectors` x `columns` accumulators in registers and loops over k: it multiplies a few vectors
// of rows of A with a row of broadcast entries of B. If the rows do not fill the last vector, it is moved up
// and overlaps the previous vector of the tile: both compute the same bits for their common rows, and C is
// read before it is written. (A load that overlaps a recent store would wait for that store.)
//
// The tiles of the same rows of A follow each other, so these rows stay in the first-level cache. They are
// copied to consecutive memory if that pays. Each entry of C is one sum in the order of k, whatever tile
// computes it.
#pragma once

#include <algorithm>

#include "kernels/vector.hpp"

namespace espalier::vector {

/// The operation on C.
enum class Into { assign, subtract };

/// A stride of 1 known at compile time.
using UnitStride = std::integral_constant<Index, 1>;

/// The most vectors of rows that a tile has.
inline constexpr int most_vectors = 3;

/// B may be stored in strips of this many columns.
inline constexpr Index strip_columns = 8;

/// The operands with complex numbers as pairs of reals: rows, lda, ldc count reals, the strides of B entries.
template <class R, class Stride> struct Operands {
    Index rows, columns, depth;
    R const* a;
    Index lda;
    R const* b;
    Index depth_stride;
    Stride column_stride;
    Index strip_stride; ///< Distance of the strips of strip_columns columns, for one column.
    R* c;
    Index ldc;
    Into into;
    R* copy; ///< Memory for most_vectors vectors of rows of A, aligned; null if they are not copied.
};

// The rows of A for a tile. Vector v of column p begins at a[p * lda + v * width], but the last one at a[p *
// lda + last].
template <class R> struct TileRows {
    R const* a;
    Index lda;
    Index last;
    // A tile prefetches the rows of A that the tiles below need. `next` is their first row in the first
    // column that this tile prefetches, and null if it prefetches nothing. The next tile to the right
    // continues after `next_columns` columns.
    R const* next;
    Index next_columns;
};

// Tiles of fewer columns of A do not wait long enough for C to be fetched.
inline constexpr Index least_depth_to_fetch = 16;

// Rows [i, end) of columns [j, j + columns), where end - i is at most vectors * width, and at least width.
template <class T, int width, int vectors, int columns, class Stride>
ESPALIER_INLINE void tile(Operands<Real<T>, Stride> const& op, bool conjugate_b,
                          TileRows<Real<T>> const& rows_of_a, Index i, Index end, Index j) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    constexpr int parts = is_complex<T> ? 2 : 1;
    auto const row = [&](int v) ESPALIER_INLINE_LAMBDA { return row_of<width, vectors>(v, i, end); };

    constexpr bool fetches_on_the_way = vectors > 1 && parts * columns >= 8;
    if (!fetches_on_the_way && op.into == Into::subtract && op.depth >= least_depth_to_fetch)
        for (int q = 0; q < columns; ++q) {
            R const* const c = op.c + (j + q) * op.ldc;
            for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + row(v), 1, 3);
            __builtin_prefetch(c + end - 1, 1, 3);
        }
    Vector sum[parts][columns][vectors] = {}; // A Re(B) and A Im(B)
    R const* a = rows_of_a.a;
    R const* b = op.b + parts * (j / strip_columns * strip_columns * op.strip_stride +
                                 j % strip_columns * op.column_stride);
    // One step of the loop over k.
    auto const step = [&]() ESPALIER_INLINE_LAMBDA {
        Vector rows[vectors];
        for (int v = 0; v < vectors; ++v) {
            load(rows[v], a + (v == vectors - 1 ? rows_of_a.last : v * width));
            if constexpr (parts * columns <= 4) keep_in_register(rows[v]); // larger tiles wait for no loads
        }
        for (int q = 0; q < columns; ++q)
            for (int part = 0; part < parts; ++part) {
                R const factor = b[parts * q * op.column_stride + part];
                for (int v = 0; v < vectors; ++v) sum[part][q][v] += rows[v] * factor;
            }
        a += rows_of_a.lda;
        b += parts * op.depth_stride;
    };
    Index p = 0;
    if constexpr (fetches_on_the_way) {
        // Each round of steps fetches the lines of one column of C and of one column of the next rows of A.
        // A core can wait for few lines at a time.
        constexpr int lines = vectors + 1;
        constexpr Index line_reals = 64 / Index{sizeof(R)};
        R const* c = op.c + i + j * op.ldc;
        R const* next = rows_of_a.next ? rows_of_a.next : c;
        Index const rounds = std::min(std::max<Index>(columns, rows_of_a.next_columns), op.depth / lines);
        for (Index round = 0; round < rounds; ++round) {
            [&]<int... line>(std::integer_sequence<int, line...>) ESPALIER_INLINE_LAMBDA {
                ((__builtin_prefetch(c + line * line_reals, 1, 3),
                  __builtin_prefetch(next + line * line_reals, 0, 2), step()),
                 ...);
            }(std::make_integer_sequence<int, lines>());
            if (round + 1 < columns) c += op.ldc;
            if (round + 1 < rows_of_a.next_columns) next += op.lda;
        }
        p = rounds * lines;
    }
    for (; p < op.depth; ++p) step();
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

// The tiles of rows [i, end) for all columns: `most` columns at a time, and as few tiles as possible for the
// rest. A tile of one or two columns waits for its additions, so 7 columns are 4 and 3.
template <class T, int width, int vectors, int most, class Stride>
ESPALIER_INLINE void strips(Operands<Real<T>, Stride> const& op, bool conjugate_b,
                            TileRows<Real<T>> const& rows_of_a, Index i, Index end) {
    Index j = 0;
    auto const next = [&]<int columns>(std::integral_constant<int, columns>) ESPALIER_INLINE_LAMBDA {
        auto rows = rows_of_a;
        if (rows.next) {
            Index const first = std::min(j / most * rows.next_columns, op.depth);
            rows.next_columns = std::min(rows.next_columns, op.depth - first);
            rows.next = rows.next_columns > 0 ? rows.next + first * op.lda : nullptr;
        }
        tile<T, width, vectors, columns>(op, conjugate_b, rows, i, end, j);
        j += columns;
    };
    while (op.columns - j >= most) next(std::integral_constant<int, most>());
    if constexpr (most > 4)
        if (op.columns - j == 4 || op.columns - j == 7) next(std::integral_constant<int, 4>());
    if constexpr (most > 3)
        while (op.columns - j >= 3) next(std::integral_constant<int, 3>());
    if constexpr (most > 2)
        if (op.columns - j == 2) next(std::integral_constant<int, 2>());
    if constexpr (most > 1)
        if (op.columns - j == 1) next(std::integral_constant<int, 1>());
}

// Rows [i, end) of all columns, where end - i is at most vectors * width, and at least width.
template <class T, int width, int vectors, int columns, class Stride>
ESPALIER_INLINE void row_of_tiles(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index i, Index end) {
    TileRows<Real<T>> rows_of_a{op.a + i, op.lda, end - i - width, nullptr, 0};
    if (op.copy) {
        for (Index p = 0; p < op.depth; ++p)
            for (int v = 0; v < vectors; ++v) {
                VectorOf<Real<T>, width> rows;
                load(rows, op.a + p * op.lda + row_of<width, vectors>(v, i, end));
                store(rows, op.copy + (p * vectors + v) * width);
            }
        rows_of_a.a = op.copy;
        rows_of_a.lda = vectors * width;
        rows_of_a.last = (vectors - 1) * width;
        Index const tiles = (op.columns + columns - 1) / columns;
        rows_of_a.next = end < op.rows ? op.a + end : nullptr;
        rows_of_a.next_columns = (op.depth + tiles - 1) / tiles; // all tiles together fetch the next rows
    }
    strips<T, width, vectors, columns>(op, conjugate_b, rows_of_a, i, end);
}

// Fewer than 2 * width rows.
template <class T, int width, int columns, class Stride>
ESPALIER_INLINE void product_of_few_rows(Operands<Real<T>, Stride> const& op, bool conjugate_b) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return product_of_few_rows<T, width / 2, columns>(op, conjugate_b);
    TileRows<Real<T>> const rows_of_a{op.a, op.lda, op.rows - width, nullptr, 0};
    if (op.rows > width)
        strips<T, width, 2, columns>(op, conjugate_b, rows_of_a, 0, op.rows);
    else
        strips<T, width, 1, columns>(op, conjugate_b, rows_of_a, 0, op.rows);
}

/// All rows, by tiles of `preferred` vectors. The last tiles have one more or less vector, so that none has a
/// single one. Each kind of tile is written once, because the compiler inlines it wherever it is called.
template <class T, int width, int preferred, int columns, class Stride>
ESPALIER_INLINE void product(Operands<Real<T>, Stride> const& op, bool conjugate_b) {
    static_assert(preferred == 2 || preferred == most_vectors);
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return product_of_few_rows<T, width / 2, columns>(op, conjugate_b);
    for (Index i = 0; i < op.rows;) {
        Index const vectors = (op.rows - i + width - 1) / width;
        if (vectors == 1) return row_of_tiles<T, width, 1, columns>(op, conjugate_b, i, op.rows);
        bool const takes_two = preferred == 2 ? vectors != 3 : vectors == 2 || vectors == 4;
        if (takes_two)
            row_of_tiles<T, width, 2, columns>(op, conjugate_b, i, std::min(i + 2 * width, op.rows));
        else
            row_of_tiles<T, width, 3, columns>(op, conjugate_b, i, std::min(i + 3 * width, op.rows));
        i += (takes_two ? 2 : 3) * width;
    }
}

} // namespace espalier::vector
