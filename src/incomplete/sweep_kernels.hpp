// The inner loops of the sweeps: runs of rows with equally many blocks, in the order in which they are
// stored.
// For each row: x(row) -= sum over its blocks of block * x(column), and then x(row) = inverse * x(row) if the
// diagonal is not the identity.
#pragma once

#include <cstdint>

#include "core/scalar.hpp"
#include "incomplete/row_pattern.hpp"

namespace espalier {

/// std::complex's operator* repairs products of infinities, which costs a branch in the inner loop.
template <class T> inline T times(T a, T b) {
    if constexpr (is_complex<T>)
        return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else
        return a * b;
}

/// Rows that follow each other in the order of a sweep and have equally many blocks.
struct SweepRun {
    std::int32_t blocks_per_row;
    std::int32_t num_rows;
};

/// The position of a sweep in its arrays.
template <class T> struct SweepCursor {
    BlockRow const* column; ///< Positions of the next blocks.
    T const* block;         ///< The next blocks, each column-major.
};

/// Rows of B x B blocks and R interleaved right-hand sides: entry k of position p of vector r is
/// x[(p * B + k) * R + r]. Step is 1 for forward and -1 for backward sweeps.
template <class T, int B, int R, int Step, bool Diagonal> struct SweepKernel {
    /// x(row) -= block * x(column)
    static void subtract(T const* block, T const* x, T* sum) {
        for (int c = 0; c < B; ++c)
            for (int k = 0; k < B; ++k)
                for (int r = 0; r < R; ++r) sum[k * R + r] -= times(block[k + c * B], x[c * R + r]);
    }

    /// A run of rows with `Blocks` blocks, or `blocks` if that is negative.
    template <int Blocks>
    static void run(T* x, T const* inverse, BlockRow first, SweepRun run, SweepCursor<T>& cursor) {
        int const blocks = Blocks >= 0 ? Blocks : run.blocks_per_row;
        BlockRow const* column = cursor.column;
        T const* block = cursor.block;
        for (std::int32_t i = 0; i < run.num_rows; ++i) {
            Index const row = first + Index(Step) * i;
            T* const target = x + row * B * R;
            T sum[B * R];
            for (int k = 0; k < B * R; ++k) sum[k] = target[k];
            for (int k = 0; k < blocks; ++k)
                subtract(block + Index(k) * B * B, x + Index(column[k]) * B * R, sum);
            column += blocks;
            block += Index(blocks) * B * B;
            if constexpr (Diagonal)
                multiply(inverse + row * B * B, sum, target);
            else
                for (int k = 0; k < B * R; ++k) target[k] = sum[k];
        }
        cursor = {column, block};
    }

    /// target = inverse * sum
    static void multiply(T const* inverse, T const* sum, T* target) {
        T product[B * R] = {};
        for (int c = 0; c < B; ++c)
            for (int k = 0; k < B; ++k)
                for (int r = 0; r < R; ++r) product[k * R + r] += times(inverse[k + c * B], sum[c * R + r]);
        for (int k = 0; k < B * R; ++k) target[k] = product[k];
    }

    /// Loops over short rows of scalars are unrolled.
    static void run_any(T* x, T const* inverse, BlockRow first, SweepRun rows, SweepCursor<T>& cursor) {
        if constexpr (B * R > 1) {
            run<-1>(x, inverse, first, rows, cursor);
        } else {
            switch (rows.blocks_per_row) {
            case 0: return run<0>(x, inverse, first, rows, cursor);
            case 1: return run<1>(x, inverse, first, rows, cursor);
            case 2: return run<2>(x, inverse, first, rows, cursor);
            case 3: return run<3>(x, inverse, first, rows, cursor);
            case 4: return run<4>(x, inverse, first, rows, cursor);
            case 5: return run<5>(x, inverse, first, rows, cursor);
            case 6: return run<6>(x, inverse, first, rows, cursor);
            default: return run<-1>(x, inverse, first, rows, cursor);
            }
        }
    }
};

} // namespace espalier
