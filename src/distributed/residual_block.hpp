// Residuals of four columns in one pass over the entries of a matrix in double precision. The columns are the
// lanes of vectors.
#pragma once

#include "distributed/residual_pass.hpp"

namespace espalier {

inline constexpr Index columns_of_block = 4;

// Whether a pass can take four columns with these scalars.
template <class T> inline constexpr bool has_blocks = std::is_same_v<Real<T>, double>;

ESPALIER_INLINE void raise(Lanes& largest, Lanes const& values) {
    largest = values > largest ? values : largest;
}

// A number in each of four columns.
template <class T> struct FourNumbers {
    Lanes re;
    ESPALIER_INLINE void load(T const* from, Index stride) {
        re = Lanes{from[0], from[stride], from[2 * stride], from[3 * stride]};
    }
    ESPALIER_INLINE void scale(double factor) { re *= factor; }
    ESPALIER_INLINE void negate() { re = -re; }
    ESPALIER_INLINE void add(FourNumbers const& other) { re += other.re; }
    ESPALIER_INLINE void add_product(double a, FourNumbers const& x) { re += a * x.re; }
    ESPALIER_INLINE void take_moduli(Lanes& to) const {
        to = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(re) & no_sign);
    }
};
template <class R> struct FourNumbers<std::complex<R>> {
    Lanes re, im;
    ESPALIER_INLINE void load(std::complex<R> const* from, Index stride) {
        auto const &x0 = from[0], &x1 = from[stride], &x2 = from[2 * stride], &x3 = from[3 * stride];
        re = Lanes{x0.real(), x1.real(), x2.real(), x3.real()};
        im = Lanes{x0.imag(), x1.imag(), x2.imag(), x3.imag()};
    }
    ESPALIER_INLINE void scale(double factor) {
        re *= factor;
        im *= factor;
    }
    ESPALIER_INLINE void negate() {
        re = -re;
        im = -im;
    }
    ESPALIER_INLINE void add(FourNumbers const& other) {
        re += other.re;
        im += other.im;
    }
    ESPALIER_INLINE void add_product(std::complex<R> a, FourNumbers const& x) {
        double const a_re = a.real(), a_im = a.imag();
        re += a_re * x.re - a_im * x.im;
        im += a_re * x.im + a_im * x.re;
    }
    ESPALIER_INLINE void take_moduli(Lanes& to) const {
        to = Lanes{modulus_of(re[0], im[0]), modulus_of(re[1], im[1]), modulus_of(re[2], im[2]),
                   modulus_of(re[3], im[3])};
    }
};

// Entries of x. The moduli of complex ones are computed once.
template <class T> struct FourEntries : FourNumbers<T> {};
template <class R> struct FourEntries<std::complex<R>> : FourNumbers<std::complex<R>> {
    Lanes size;
    ESPALIER_INLINE void take_moduli(Lanes& to) const { to = size; }
};

// For each column, the sum of the products a x of a row, and of their moduli.
template <class T> struct BlockSums {
    using Entry = FourEntries<T>;
    FourNumbers<T> product;
    Lanes size;
    ESPALIER_INLINE void add(BlockSums const& other) {
        product.add(other.product);
        size += other.size;
    }
    ESPALIER_INLINE void add(T a, double a_size, Entry const& x) {
        Lanes moduli = {};
        x.take_moduli(moduli);
        product.add_product(a, x);
        size += a_size * moduli;
    }
};
// 96 bytes for real numbers and 192 for complex ones, in two or three lines of the cache.
template <class T> using BlockRow = RowOfPass<BlockSums<T>>;

// Works like add_entries().
template <bool scatters, bool gathers, class T> struct AddBlockEntries {
    ESPALIER_INLINE static T conj_by(double sign, T value) {
        if constexpr (is_complex<T>)
            return T(value.real(), sign * value.imag());
        else
            return value;
    }
    ESPALIER_INLINE static void run(CscMatrix<T> const& a, IndexRange columns, BlockRow<T>* rows,
                                    bool conjugate_i, bool conjugate_j) {
        constexpr Offset rows_ahead = 64, entries_ahead = 512;
        Index const* const row_ind = a.row_ind.data();
        T const* const values = a.values.data();
        double const sign_i = conjugate_i ? -1 : 1, sign_j = conjugate_j ? -1 : 1;
        for (Index j = columns.first; j < columns.last; ++j) {
            Offset const begin = a.col_ptr[j], end = a.col_ptr[j + 1];
            Offset const ahead = end + rows_ahead <= a.stored() ? rows_ahead : 0;
            for (Offset q = begin; q < end; q += 8) {
                __builtin_prefetch(row_ind + q + entries_ahead);
                __builtin_prefetch(values + q + entries_ahead);
            }
            auto const x_j = rows[j].x;
            BlockSums<T> sums_j = {};
            for (Offset p = begin; p < end; ++p) {
                BlockRow<T> const* const later = rows + row_ind[p + ahead];
                __builtin_prefetch(later, scatters);
                __builtin_prefetch(&later->x, scatters);
                if constexpr (is_complex<T>) __builtin_prefetch(&later->x.size, scatters);
                BlockRow<T>& row = rows[row_ind[p]];
                T const value = values[p];
                double const size = modulus_of(value);
                if constexpr (gathers) sums_j.add(conj_by(sign_j, value), size, row.x);
                if constexpr (scatters)
                    if (!gathers || row_ind[p] != j) row.sums.add(conj_by(sign_i, value), size, x_j);
            }
            if constexpr (gathers) rows[j].sums.add(sums_j);
        }
    }
};

template <bool scatters, bool gathers, class T> void add_columns(bool conjugate_i, bool conjugate_j,
                                                                 CscMatrix<T> const& a, IndexRange columns,
                                                                 BlockRow<T>* rows) {
    run_lanes<AddBlockEntries<scatters, gathers, T>>(a, columns, rows, conjugate_i, conjugate_j);
}

// Four columns of x and b, each of `m` entries. `inner` and `outer` have the factors of the columns and rows
// of the matrix; null means ones.
template <class T> struct BlockOfColumns {
    T const *x, *b;
    Index m;
    double const *inner, *outer;
};

// Sets the sums and the entries of x of a range of rows, and takes the largest entries of x and b. Products
// start with -b. Sizes of real numbers start with |b|, like those of one column.
template <class T> struct BeginBlock {
    ESPALIER_INLINE static void run(BlockOfColumns<T> const& block, IndexRange range, BlockRow<T>* rows,
                                    Largest* to) {
        Lanes x_norms = {}, b_norms = {};
        for (Index i = range.first; i < range.last; ++i) {
            FourNumbers<T> x = {}, b = {};
            Lanes moduli = {};
            x.load(block.x + i, block.m);
            b.load(block.b + i, block.m);
            x.take_moduli(moduli);
            raise(x_norms, moduli);
            if (block.inner) x.scale(block.inner[i]);
            static_cast<FourNumbers<T>&>(rows[i].x) = x;
            if constexpr (is_complex<T>) rows[i].x.size = block.inner ? moduli * block.inner[i] : moduli;
            b.take_moduli(moduli);
            raise(b_norms, moduli);
            if (block.outer) b.scale(1 / block.outer[i]);
            rows[i].sums.size = Lanes{};
            if constexpr (!is_complex<T>) b.take_moduli(rows[i].sums.size);
            b.negate();
            rows[i].sums.product = b;
        }
        for (Index c = 0; c < columns_of_block; ++c) to[c].take(Largest{.x = x_norms[c], .b = b_norms[c]});
    }
};

// The largest values of the rows in each column, like TakeLanes without the norm of the matrix.
template <class T> struct TakeBlock {
    ESPALIER_INLINE static void run(BlockOfColumns<T> const& block, IndexRange range, BlockRow<T> const* rows,
                                    Largest* to) {
        Lanes after = {}, before = {}, sizes = {}, x_before = {}, worst = {};
        for (Index c = 0; c < columns_of_block; ++c) worst[c] = below_rounding * to[c].componentwise;
        for (Index i = range.first; i < range.last; ++i) {
            double const factor = block.outer ? block.outer[i] : 1;
            Lanes residual = {}, x_scaled = {}, b_moduli = {};
            rows[i].sums.product.take_moduli(residual);
            rows[i].x.take_moduli(x_scaled);
            Lanes size = rows[i].sums.size;
            if constexpr (is_complex<T>) {
                FourNumbers<T> b = {};
                b.load(block.b + i, block.m);
                b.take_moduli(b_moduli);
                size += b_moduli * (1 / factor);
            }
            raise(before, residual);
            raise(after, residual * factor);
            raise(sizes, size);
            raise(x_before, x_scaled);
            // These maxima ignore a NaN, and so do those of BeginBlock; see TakeLanes.
            LaneBits good = (residual <= worst * size) & (x_scaled <= Lanes{} + infinity);
            if constexpr (is_complex<T>) good &= size < Lanes{} + infinity; // as for one column
            if ((good[0] & good[1] & good[2] & good[3]) != 0) continue;
            for (Index c = 0; c < columns_of_block; ++c) {
                to[c].take(Largest{residual[c] * factor, relative_error(residual[c], size[c]), residual[c],
                                   size[c], x_scaled[c], 0, modulus_of(block.x[c * block.m + i]),
                                   modulus_of(block.b[c * block.m + i])});
                worst[c] = below_rounding * to[c].componentwise;
            }
        }
        for (Index c = 0; c < columns_of_block; ++c)
            to[c].take(Largest{after[c], 0, before[c], sizes[c], x_before[c]});
    }
};

} // namespace espalier
