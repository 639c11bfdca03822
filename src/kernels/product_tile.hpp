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
// Blocks of rows of A are copied to consecutive memory, in the second-level cache, if that pays. The tiles of
// the same columns of B then follow each other, so these columns stay in the first-level cache. Otherwise the
// tiles of the same rows of A follow each other. Each entry of C is one sum in the order of k, whatever tile
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

/// The columns of a tile for vectors of `bytes` bytes.
template <class T, int bytes> inline constexpr int columns_of_tile =
    (is_fallback<bytes> ? 2 : std::max(4, bytes / 8)) / (is_complex<T> ? 2 : 1);
/// The vectors of rows of a tile. 16 registers are too few for three vectors and four columns.
template <int bytes> inline constexpr int vectors_of_tile = bytes == 32 ? 2 : most_vectors;

/// The number of reals in a line of the cache.
template <class R> inline constexpr Index reals_of_line = 64 / Index{sizeof(R)};

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
    Index rows_at_once; ///< The rows of a block that is copied.
    R* copy;            ///< Memory for a block of rows of A, aligned; null if they are not copied.
};

// The rows of A for a tile. Vector v of column p begins at a[p * lda + v * width], but the last one at a[p *
// lda + last].
template <class R> struct TileRows {
    R const* a;
    Index lda;
    Index last;
};

// The rows below those of some tiles, which these prefetch column by column, so that the processor recognizes
// the order.
template <class R> class RowsAhead {
  public:
    RowsAhead() = default;
    // The rows begin at `a`. `tiles`: the number of tiles that prefetch them together.
    RowsAhead(R const* a, Index lda, Index rows, Index columns, Index tiles)
        : column_(a), lda_(lda), lines_of_column_((rows + line_reals - 1) / line_reals + 1),
          lines_of_tile_((columns * lines_of_column_ + tiles - 1) / tiles), columns_left_(columns) {}

    // The number of lines that the next tile should prefetch.
    [[nodiscard]] Index lines_of_tile() const { return columns_left_ > 0 ? lines_of_tile_ : 0; }
    // Returns the first of `lines` consecutive lines to prefetch next, or `none` if there are no more.
    ESPALIER_INLINE R const* take(int lines, R const* none) {
        if (columns_left_ == 0) return none;
        R const* const first = column_ + line_ * line_reals;
        line_ += lines;
        if (line_ >= lines_of_column_) {
            line_ = 0;
            column_ += lda_;
            --columns_left_;
        }
        return first;
    }

  private:
    static constexpr Index line_reals = reals_of_line<R>;
    R const* column_ = nullptr;
    Index lda_ = 0, lines_of_column_ = 0, lines_of_tile_ = 0;
    Index columns_left_ = 0, line_ = 0; ///< The columns not yet done, and the next line of the first of them.
};

// The sums of a tile, in registers: of A Re(B) and of A Im(B).
template <class T, int width, int vectors, int columns> class TileSums {
  public:
    using R = Real<T>;
    using Vector = VectorOf<R, width>;

    // Adds the product of a column of A and a row of B. Vector v of A begins at a[v * width], but the last
    // one at a[last]; entry q of B is at b[q * stride], for complex numbers in pairs of reals.
    template <class Stride> ESPALIER_INLINE void add(R const* a, Index last, R const* b, Stride stride) {
        Vector rows[vectors];
        for (int v = 0; v < vectors; ++v) {
            load(rows[v], a + (v == vectors - 1 ? last : v * width));
            if constexpr (parts * columns <= 4) keep_in_register(rows[v]); // larger tiles wait for no loads
        }
        for (int q = 0; q < columns; ++q)
            for (int part = 0; part < parts; ++part) {
                R const factor = b[parts * q * stride + part];
                for (int v = 0; v < vectors; ++v) sums_[part][q][v] += rows[v] * factor;
            }
    }
    // Sets `total` to vector v of column q of A B, or of A conj(B).
    ESPALIER_INLINE void get(Vector& total, int q, int v, bool conjugate_b) const {
        total = sums_[0][q][v];
        if constexpr (is_complex<T>) {
            Vector imaginary = sums_[1][q][v];
            times_i<R, width>(imaginary);
            total = conjugate_b ? total - imaginary : total + imaginary;
        }
    }

  private:
    static constexpr int parts = is_complex<T> ? 2 : 1;
    Vector sums_[parts][columns][vectors] = {};
};

// Tiles of fewer columns of A do not wait long enough for C to be fetched.
inline constexpr Index least_depth_to_fetch = 16;

// Rows [i, end) of columns [j, j + columns), where end - i is at most vectors * width, and at least width.
template <class T, int width, int vectors, int columns, class Stride>
ESPALIER_INLINE void tile(Operands<Real<T>, Stride> const& op, bool conjugate_b,
                          TileRows<Real<T>> const& rows_of_a, Index i, Index end, Index j,
                          RowsAhead<Real<T>>& ahead) {
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
    TileSums<T, width, vectors, columns> sums;
    R const* a = rows_of_a.a;
    R const* b = op.b + parts * (j / strip_columns * strip_columns * op.strip_stride +
                                 j % strip_columns * op.column_stride);
    // One step of the loop over k.
    auto const step = [&]() ESPALIER_INLINE_LAMBDA {
        sums.add(a, rows_of_a.last, b, op.column_stride);
        a += rows_of_a.lda;
        b += parts * op.depth_stride;
    };
    Index p = 0;
    if constexpr (fetches_on_the_way) {
        // Each round of steps fetches the lines of one column of C and as many of the rows ahead. A core can
        // wait for few lines at a time.
        constexpr int lines = vectors + 1;
        constexpr Index line_reals = reals_of_line<R>;
        R const* c = op.c + i + j * op.ldc;
        Index const rounds =
            std::min(std::max<Index>(columns, (ahead.lines_of_tile() + lines - 1) / lines), op.depth / lines);
        for (Index round = 0; round < rounds; ++round) {
            R const* const next = ahead.take(lines, c);
            [&]<int... line>(std::integer_sequence<int, line...>) ESPALIER_INLINE_LAMBDA {
                ((__builtin_prefetch(c + line * line_reals, 1, 3),
                  __builtin_prefetch(next + line * line_reals, 0, 2), step()),
                 ...);
            }(std::make_integer_sequence<int, lines>());
            if (round + 1 < columns) c += op.ldc;
        }
        p = rounds * lines;
    }
    for (; p < op.depth; ++p) step();
    auto const finish = [&]<Into into>(std::integral_constant<Into, into>) ESPALIER_INLINE_LAMBDA {
        for (int q = 0; q < columns; ++q) {
            R* const c = op.c + (j + q) * op.ldc;
            Vector total[vectors];
            for (int v = 0; v < vectors; ++v) {
                sums.get(total[v], q, v, conjugate_b);
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

// Calls visit(number of columns, first column) for tiles of all columns: `most` columns at a time, and as few
// tiles as possible for the rest. A tile of one or two columns waits for its additions, so 7 columns are 4
// and 3.
template <int most, class Visit> ESPALIER_INLINE void visit_columns(Index columns, Visit const& visit) {
    Index j = 0;
    auto const next = [&]<int count>(std::integral_constant<int, count> size) ESPALIER_INLINE_LAMBDA {
        visit(size, j);
        j += count;
    };
    while (columns - j >= most) next(std::integral_constant<int, most>());
    if constexpr (most > 4)
        if (columns - j == 4 || columns - j == 7) next(std::integral_constant<int, 4>());
    if constexpr (most > 3)
        while (columns - j >= 3) next(std::integral_constant<int, 3>());
    if constexpr (most > 2)
        if (columns - j == 2) next(std::integral_constant<int, 2>());
    if constexpr (most > 1)
        if (columns - j == 1) next(std::integral_constant<int, 1>());
}

// The tiles of rows [i, end) for all columns, where end - i is at most vectors * width, and at least width.
template <class T, int width, int vectors, int most, class Stride>
ESPALIER_INLINE void row_of_tiles(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index i, Index end) {
    TileRows<Real<T>> const rows_of_a{op.a + i, op.lda, end - i - width};
    RowsAhead<Real<T>> none;
    visit_columns<most>(op.columns, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
        tile<T, width, vectors, decltype(columns)::value>(op, conjugate_b, rows_of_a, i, end, j, none);
    });
}

// Fewer than 2 * width rows.
template <class T, int width, int columns, class Stride>
ESPALIER_INLINE void product_of_few_rows(Operands<Real<T>, Stride> const& op, bool conjugate_b) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return product_of_few_rows<T, width / 2, columns>(op, conjugate_b);
    if (op.rows > width)
        row_of_tiles<T, width, 2, columns>(op, conjugate_b, 0, op.rows);
    else
        row_of_tiles<T, width, 1, columns>(op, conjugate_b, 0, op.rows);
}

// Calls visit(number of vectors, first row, end) for the tiles of the rows [i, end). The last tiles have one
// vector more or less than `preferred`, so that none has a single one.
template <int width, int preferred, class Visit>
ESPALIER_INLINE void visit_rows(Index i, Index end, Visit const& visit) {
    static_assert(preferred == 2 || preferred == most_vectors);
    while (i < end) {
        Index const left = (end - i + width - 1) / width; // vectors
        if (left == 1) return visit(std::integral_constant<int, 1>(), i, end);
        bool const takes_two = preferred == 2 ? left != 3 : left == 2 || left == 4;
        Index const last = std::min(i + (takes_two ? 2 : 3) * width, end);
        if (takes_two)
            visit(std::integral_constant<int, 2>(), i, last);
        else
            visit(std::integral_constant<int, 3>(), i, last);
        i = last;
    }
}

// The reals from the copy of the rows of a tile to that of the next one. Copies at multiples of 4 KiB would
// map to the same lines of the first-level cache.
template <class R> ESPALIER_INLINE Index size_of_copy(Index rows, Index depth) {
    return rows * depth + reals_of_line<R>;
}

// Copies the rows [first, end) of A: those of a tile are consecutive, column by column.
template <class T, int width, int preferred, class Stride>
ESPALIER_INLINE void copy_block(Operands<Real<T>, Stride> const& op, Index first, Index end) {
    using R = Real<T>;
    for (Index p = 0; p < op.depth; ++p) {
        R* copy = op.copy;
        R const* const column = op.a + p * op.lda;
        visit_rows<width, preferred>(first, end,
                                     [&](auto vectors, Index i, Index end_of_tile) ESPALIER_INLINE_LAMBDA {
                                         constexpr int count = decltype(vectors)::value;
                                         for (int v = 0; v < count; ++v) {
                                             VectorOf<R, width> rows;
                                             load(rows, column + row_of<width, count>(v, i, end_of_tile));
                                             store(rows, copy + (p * count + v) * width);
                                         }
                                         copy += size_of_copy<R>(count * width, op.depth);
                                     });
    }
}

// The tiles of the rows [first, end) for all columns, after copy_block().
template <class T, int width, int preferred, int most, class Stride> ESPALIER_INLINE void
multiply_block(Operands<Real<T>, Stride> const& op, bool conjugate_b, Index first, Index end) {
    using R = Real<T>;
    RowsAhead<R> ahead;
    if (Index const below = std::min(op.rows - end, end - first); below > 0) {
        Index const tiles_of_rows = (end - first + preferred * width - 1) / (preferred * width);
        ahead = {op.a + end, op.lda, below, op.depth, tiles_of_rows * ((op.columns + most - 1) / most)};
    }
    visit_columns<most>(op.columns, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
        R const* copy = op.copy;
        visit_rows<width, preferred>(
            first, end, [&](auto vectors, Index i, Index end_of_tile) ESPALIER_INLINE_LAMBDA {
                constexpr int count = decltype(vectors)::value;
                TileRows<R> const rows_of_a{copy, count * width, (count - 1) * width};
                tile<T, width, count, decltype(columns)::value>(op, conjugate_b, rows_of_a, i, end_of_tile, j,
                                                                ahead);
                copy += size_of_copy<R>(count * width, op.depth);
            });
    });
}

/// All rows, by tiles of `preferred` vectors. Each kind of tile is written once, because the compiler inlines
/// it wherever it is called.
template <class T, int width, int preferred, int columns, class Stride>
ESPALIER_INLINE void product(Operands<Real<T>, Stride> const& op, bool conjugate_b) {
    if constexpr (width > narrowest<T>)
        if (op.rows < width) return product_of_few_rows<T, width / 2, columns>(op, conjugate_b);
    if (!op.copy)
        return visit_rows<width, preferred>(
            0, op.rows, [&](auto vectors, Index i, Index end) ESPALIER_INLINE_LAMBDA {
                row_of_tiles<T, width, decltype(vectors)::value, columns>(op, conjugate_b, i, end);
            });
    constexpr Index rows_of_tile = preferred * width;
    Index const rows_at_once = op.rows_at_once / rows_of_tile * rows_of_tile;
    for (Index first = 0, end = 0; first < op.rows; first = end) {
        end = std::min(first + rows_at_once, op.rows);
        if (op.rows > end && op.rows - end <= width) end -= rows_of_tile; // no tile has a single vector
        copy_block<T, width, preferred>(op, first, end);
        multiply_block<T, width, preferred, columns>(op, conjugate_b, first, end);
    }
}

} // namespace espalier::vector
