// The inner loops of the sweeps: runs of rows with equally many blocks, in the order in which they are
// stored. For each row, x(row) -= sum over its blocks of block * x(column); then x(row) = inverse * x(row) if
// the diagonal is not the identity.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/scalar.hpp"
#include "rows/row_pattern.hpp"

namespace espalier {

/// Real scalars are stored, and computed, in groups of this many rows.
inline constexpr BlockRow group_rows = 4;

/// Rows that are consecutive in the order of a sweep and have equally many blocks.
struct SweepRun {
    std::int32_t blocks_per_row;
    std::int32_t num_rows;
    std::int32_t stride; ///< The distance of a block to the next one of its row: 1, or group_rows in groups.
    bool is_packed;      ///< Whether the groups are packed (row_storage.hpp).
};

/// Prefetches `bytes` bytes that a sweep reads some time after those at `next`. The processor itself does not
/// prefetch beyond the end of a page.
inline void prefetch_stream(void const* next, Index bytes) {
    constexpr Index ahead = 8192, line = 64; // bytes
    auto const* const at = static_cast<char const*>(next) + ahead;
    for (Index b = 0; b < bytes; b += line) __builtin_prefetch(at + b);
}

/// The lowest row of the group that a sweep computes first. The lanes of a group ascend by position, also in
/// a backward sweep.
inline Index lowest_of_group(Index first, Index step) {
    return step > 0 ? first : first - (group_rows - 1);
}

// GCC would also clone a function for constant arguments.
#if defined(__clang__)
#define ESPALIER_COMPILED_ONCE [[gnu::noinline]]
#else
#define ESPALIER_COMPILED_ONCE [[gnu::noinline, gnu::noclone]]
#endif

/// The position of a sweep in its arrays.
template <class T> struct SweepCursor {
    BlockRow const* column; ///< Positions of the next blocks, of the lowest row only in packed groups.
    T const* block;         ///< The next blocks, each column-major.
};

/// Rows of B x B blocks and R interleaved right-hand sides: entry k of position p of vector r is
/// x[(p * B + k) * R + r]. `inverse` has the inverse diagonal blocks by position; it is null if the diagonal
/// is the identity. The row after `first` in a run is first + step; step is 1 for forward and -1 for backward
/// sweeps.
template <class T, int B, int R> struct SweepKernel {
    /// Computes a run. Both directions share this code, with and without diagonal blocks, because the test of
    /// a pointer in each row takes no time, but compiling the loops several times does.
    ESPALIER_COMPILED_ONCE static void run(T* x, T const* inverse, Index first, Index step, SweepRun rows,
                                           SweepCursor<T>& cursor) {
        int const blocks = rows.blocks_per_row;
        if (rows.stride > 1) return run_groups(x, inverse, first, step, rows, cursor);
        for (std::int32_t i = 0; i < rows.num_rows; ++i) {
            if constexpr (B > 1) prefetch_stream(cursor.block, Index(blocks) * block_bytes);
            row(x, inverse, first + step * i, {blocks, 1, 1, 0, cursor.column, cursor.block});
            cursor.column += blocks;
            cursor.block += Index(blocks) * B * B;
        }
    }

  private:
    static constexpr Index block_bytes = Index(B) * B * static_cast<Index>(sizeof(T));

    /// The blocks of a row: block k is at blocks[k * stride], in the column columns[k * column_stride] +
    /// added.
    struct RowBlocks {
        int count;
        Index stride, column_stride;
        BlockRow added;
        BlockRow const* columns;
        T const* blocks;
    };

    static void run_groups(T* x, T const* inverse, Index first, Index step, SweepRun rows,
                           SweepCursor<T>& cursor) {
        if constexpr (B == 1 && !is_complex<T>) {
            int const blocks = rows.blocks_per_row;
            Index const lowest = lowest_of_group(first, step);
            for (std::int32_t i = 0; i < rows.num_rows; i += group_rows) {
                Index const low = lowest + step * i;
                for (int lane = 0; lane < group_rows; ++lane) {
                    T const* const values = cursor.block + lane;
                    if (rows.is_packed)
                        row(x, inverse, low + lane, {blocks, group_rows, 1, lane, cursor.column, values});
                    else
                        row(x, inverse, low + lane,
                            {blocks, group_rows, group_rows, 0, cursor.column + lane, values});
                }
                cursor.column += Index(blocks) * (rows.is_packed ? 1 : group_rows);
                cursor.block += Index(blocks) * group_rows;
            }
        }
    }

    static void row(T* x, T const* inverse, Index row, RowBlocks const& of) {
        T* const target = x + row * B * R;
        T sum[B * R];
        for (int k = 0; k < B * R; ++k) sum[k] = target[k];
        for (int k = 0; k < of.count; ++k)
            subtract(of.blocks + k * of.stride * B * B,
                     x + (Index(of.columns[k * of.column_stride]) + of.added) * B * R, sum);
        if (inverse)
            multiply(inverse + row * B * B, sum, target);
        else
            for (int k = 0; k < B * R; ++k) target[k] = sum[k];
    }

    /// x(row) -= block * x(column)
    static void subtract(T const* block, T const* x, T* sum) {
        for (int c = 0; c < B; ++c)
            for (int k = 0; k < B; ++k)
                for (int r = 0; r < R; ++r) sum[k * R + r] -= times(block[k + c * B], x[c * R + r]);
    }

    /// target = inverse * sum
    static void multiply(T const* inverse, T const* sum, T* target) {
        T result[B * R]; // in registers
        for (int k = 0; k < B; ++k)
            for (int r = 0; r < R; ++r) result[k * R + r] = times(inverse[k], sum[r]);
        for (int c = 1; c < B; ++c)
            for (int k = 0; k < B; ++k)
                for (int r = 0; r < R; ++r) result[k * R + r] += times(inverse[k + c * B], sum[c * R + r]);
        for (int k = 0; k < B * R; ++k) target[k] = result[k];
    }
};

/// Rows of scalars and one right-hand side. Loops over short rows are unrolled.
template <class T> struct SweepKernel<T, 1, 1> {
    static void run(T* x, T const* inverse, Index first, Index step, SweepRun rows, SweepCursor<T>& cursor) {
        if (inverse)
            run_unrolled<true>(x, inverse, first, step, rows, cursor);
        else
            run_unrolled<false>(x, inverse, first, step, rows, cursor);
    }

  private:
    template <bool Diagonal> static void run_unrolled(T* x, T const* inverse, Index first, Index step,
                                                      SweepRun rows, SweepCursor<T>& cursor) {
        auto const with = [&]<int Blocks>() {
            if constexpr (!is_complex<T>) {
                if (rows.stride > 1 && rows.is_packed)
                    return run_groups<Diagonal, true, Blocks>(x, inverse, first, step, rows, cursor);
                if (rows.stride > 1)
                    return run_groups<Diagonal, false, Blocks>(x, inverse, first, step, rows, cursor);
            }
            run_rows<Diagonal, Blocks>(x, inverse, first, step, rows, cursor);
        };
        switch (rows.blocks_per_row) {
        case 0:
            return with.template operator()<0>();
        case 1:
            return with.template operator()<1>();
        case 2:
            return with.template operator()<2>();
        case 3:
            return with.template operator()<3>();
        case 4:
            return with.template operator()<4>();
        case 5:
            return with.template operator()<5>();
        case 6:
            return with.template operator()<6>();
        default:
            return with.template operator()<-1>();
        }
    }

    /// Computes a run of rows with `Blocks` blocks each. If `Blocks` is negative, the run gives their number.
    template <bool Diagonal, int Blocks> static void run_rows(T* x, T const* inverse, Index first, Index step,
                                                              SweepRun rows, SweepCursor<T>& cursor) {
        int const blocks = Blocks >= 0 ? Blocks : rows.blocks_per_row;
        for (std::int32_t i = 0; i < rows.num_rows; ++i) {
            Index const row = first + step * i;
            T sum = x[row];
            for (int k = 0; k < blocks; ++k) sum -= times(cursor.block[k], x[cursor.column[k]]);
            x[row] = Diagonal ? times(inverse[row], sum) : sum;
            cursor.column += blocks;
            cursor.block += blocks;
        }
    }

    /// The number of rows whose sums are in a vector register of 16 bytes, and the number of registers of a
    /// group.
    static constexpr int lanes = 16 / sizeof(T), parts = is_complex<T> ? 0 : group_rows / lanes;
    using Vector [[gnu::vector_size(16)]] = Real<T>;

    static Vector load(T const* from) {
        Vector vector;
        std::memcpy(&vector, from, sizeof vector);
        return vector;
    }
    template <bool Diagonal> static void store(Vector sum, T const* inverse, T* x) {
        if constexpr (Diagonal) sum = load(inverse) * sum;
        std::memcpy(x, &sum, sizeof sum);
    }
    /// Computes a run of groups.
    template <bool Diagonal, bool Packed, int Blocks> static void
    run_groups(T* x, T const* inverse, Index first, Index step, SweepRun rows, SweepCursor<T>& cursor) {
        int const blocks = Blocks >= 0 ? Blocks : rows.blocks_per_row;
        BlockRow const* column = cursor.column;
        T const* block = cursor.block;
        Index const lowest = lowest_of_group(first, step);
        for (std::int32_t i = 0; i < rows.num_rows; i += group_rows) {
            Index const low = lowest + step * i;
            if constexpr (Blocks >= 0) { // longer rows gain nothing
                prefetch_stream(block, Index(Blocks) * group_rows * static_cast<Index>(sizeof(T)));
                if (!Packed)
                    prefetch_stream(column,
                                    Index(Blocks) * group_rows * static_cast<Index>(sizeof(BlockRow)));
            }
            Vector sum[parts];
            for (int p = 0; p < parts; ++p) sum[p] = load(x + low + p * lanes);
            for (int k = 0; k < blocks; ++k, column += Packed ? 1 : group_rows, block += group_rows)
                for (int p = 0; p < parts; ++p) {
                    Vector entries = {};
                    if constexpr (Packed)
                        entries = load(x + *column + p * lanes);
                    else
                        for (int lane = 0; lane < lanes; ++lane) entries[lane] = x[column[p * lanes + lane]];
                    sum[p] -= load(block + p * lanes) * entries;
                }
            for (int p = 0; p < parts; ++p)
                store<Diagonal>(sum[p], inverse + low + p * lanes, x + low + p * lanes);
        }
        cursor = {column, block};
    }
};

} // namespace espalier
