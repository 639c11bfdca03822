// Residuals of four columns in one pass over the entries of a real matrix in double precision. The columns
// are the lanes of vectors.
#pragma once

#include "distributed/residual_pass.hpp"

namespace espalier {

inline constexpr Index columns_of_block = 4;

ESPALIER_INLINE void take_moduli(Lanes const& values, Lanes& to) {
    to = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(values) & no_sign);
}

// For each column, the sum of the products a x of a row, and of their moduli.
struct BlockSums {
    using Entry = Lanes;
    Lanes product, size;
    ESPALIER_INLINE void add(BlockSums const& other) {
        product += other.product;
        size += other.size;
    }
    ESPALIER_INLINE void add(double a, Lanes const& x) {
        Lanes moduli = {};
        take_moduli(x, moduli);
        product += a * x;
        size += std::abs(a) * moduli;
    }
};
using BlockRow = RowOfPass<BlockSums>; // 96 bytes, in two lines of the cache

// Works like add_entries().
template <bool scatters, bool gathers> struct AddBlockEntries {
    ESPALIER_INLINE static void run(CscMatrix<double> const& a, IndexRange columns, BlockRow* rows) {
        constexpr Offset rows_ahead = 64, entries_ahead = 512;
        Index const* const row_ind = a.row_ind.data();
        double const* const values = a.values.data();
        for (Index j = columns.first; j < columns.last; ++j) {
            Offset const begin = a.col_ptr[j], end = a.col_ptr[j + 1];
            Offset const ahead = end + rows_ahead <= a.stored() ? rows_ahead : 0;
            for (Offset q = begin; q < end; q += 8) {
                __builtin_prefetch(row_ind + q + entries_ahead);
                __builtin_prefetch(values + q + entries_ahead);
            }
            Lanes const x_j = rows[j].x;
            BlockSums sums_j = {};
            for (Offset p = begin; p < end; ++p) {
                BlockRow const* const later = rows + row_ind[p + ahead];
                __builtin_prefetch(later, scatters);
                __builtin_prefetch(&later->x, scatters);
                BlockRow& row = rows[row_ind[p]];
                if constexpr (gathers) sums_j.add(values[p], row.x);
                if constexpr (scatters)
                    if (!gathers || row_ind[p] != j) row.sums.add(values[p], x_j);
            }
            if constexpr (gathers) rows[j].sums.add(sums_j);
        }
    }
};

template <bool scatters, bool gathers>
void add_columns(bool, bool, CscMatrix<double> const& a, IndexRange columns, BlockRow* rows) {
    run_lanes<AddBlockEntries<scatters, gathers>>(a, columns, rows);
}

// Four columns of x and b, each of `m` entries. `inner` and `outer` have the factors of the columns and rows
// of the matrix; null means ones.
struct BlockOfColumns {
    double const *x, *b;
    Index m;
    double const *inner, *outer;

    ESPALIER_INLINE void load(double const* from, Index i, Lanes& to) const {
        to = Lanes{from[i], from[m + i], from[2 * m + i], from[3 * m + i]};
    }
};

ESPALIER_INLINE void raise(Lanes& largest, Lanes const& values) {
    largest = values > largest ? values : largest;
}

// Sets the sums and the entries of x of a range of rows, and takes the largest entries of x and b. Products
// start with -b, and sizes with |b|.
struct BeginBlock {
    ESPALIER_INLINE static void run(BlockOfColumns const& block, IndexRange range, BlockRow* rows,
                                    Largest* to) {
        Lanes x_norms = {}, b_norms = {};
        for (Index i = range.first; i < range.last; ++i) {
            Lanes x = {}, b = {}, moduli = {};
            block.load(block.x, i, x);
            block.load(block.b, i, b);
            take_moduli(x, moduli);
            raise(x_norms, moduli);
            take_moduli(b, moduli);
            raise(b_norms, moduli);
            if (block.inner) x *= block.inner[i];
            if (block.outer) b *= 1 / block.outer[i];
            rows[i].x = x;
            rows[i].sums.product = -b;
            take_moduli(b, rows[i].sums.size);
        }
        for (Index c = 0; c < columns_of_block; ++c) to[c].take(Largest{.x = x_norms[c], .b = b_norms[c]});
    }
};

// The largest values of the rows in each column, like TakeLanes without the norm of the matrix.
struct TakeBlock {
    ESPALIER_INLINE static void run(BlockOfColumns const& block, IndexRange range, BlockRow const* rows,
                                    Largest* to) {
        Lanes after = {}, before = {}, sizes = {}, x_before = {}, worst = {};
        for (Index c = 0; c < columns_of_block; ++c) worst[c] = below_rounding * to[c].componentwise;
        for (Index i = range.first; i < range.last; ++i) {
            Lanes residual = {}, x_scaled = {};
            take_moduli(rows[i].sums.product, residual);
            take_moduli(rows[i].x, x_scaled);
            Lanes const size = rows[i].sums.size;
            double const factor = block.outer ? block.outer[i] : 1;
            raise(before, residual);
            raise(after, residual * factor);
            raise(sizes, size);
            raise(x_before, x_scaled);
            // These maxima ignore a NaN, and so do those of BeginBlock; see TakeLanes.
            LaneBits const good = (residual <= worst * size) & (x_scaled <= Lanes{} + infinity);
            if ((good[0] & good[1] & good[2] & good[3]) != 0) continue;
            Lanes x = {}, b = {};
            block.load(block.x, i, x);
            block.load(block.b, i, b);
            for (Index c = 0; c < columns_of_block; ++c) {
                to[c].take(Largest{residual[c] * factor, relative_error(residual[c], size[c]), residual[c],
                                   size[c], x_scaled[c], 0, std::abs(x[c]), std::abs(b[c])});
                worst[c] = below_rounding * to[c].componentwise;
            }
        }
        for (Index c = 0; c < columns_of_block; ++c)
            to[c].take(Largest{after[c], 0, before[c], sizes[c], x_before[c]});
    }
};

} // namespace espalier
