// Sums for the rows of a sparse matrix: the products a x, their moduli, and the moduli of a if the norm of
// the matrix is wanted. For real matrices in double precision, these are lanes of one vector.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "kernels/vector.hpp"
#include "matrix/norms.hpp"

namespace espalier {

// The sum of some products a x, and of their moduli.
template <class T> struct ProductAndSize {
    using Entry = T; // type of the entries of x
    T product;
    Real<T> size;
    void start(T value) { *this = {value, 0}; }
    void add(T a, T x) {
        product += a * x;
        size += std::abs(a) * std::abs(x);
    }
    void add(ProductAndSize const& other) {
        product += other.product;
        size += other.size;
    }
};

// Also sums the moduli of a.
template <class T> struct ProductSizeAndNorm : ProductAndSize<T> {
    double norm;
    void start(T value) {
        ProductAndSize<T>::start(value);
        norm = 0;
    }
    void add(T a, T x) {
        ProductAndSize<T>::add(a, x);
        norm += modulus(a);
    }
    void add(ProductSizeAndNorm const& other) {
        ProductAndSize<T>::add(other);
        norm += other.norm;
    }
};

// An entry of x and the factor of its column.
template <class T> struct ScaledEntry {
    T x;
    double factor;
};

// Like ProductSizeAndNorm, for a matrix whose columns have factors.
template <class T> struct ProductSizeAndScaledNorm : ProductSizeAndNorm<T> {
    using Entry = ScaledEntry<T>;
    using ProductSizeAndNorm<T>::add;
    void add(T a, Entry const& entry) {
        ProductAndSize<T>::add(a, entry.x);
        this->norm += modulus(a) * entry.factor;
    }
};

// The sums of a row and its entry of x, together in a line of the cache.
template <class Sums> struct RowOfPass {
    Sums sums;
    typename Sums::Entry x;
    void add(RowOfPass const& other) { sums.add(other.sums); }
};

// Whether a row begins with four numbers in double precision.
template <class Sums> inline constexpr bool has_lanes =
    std::is_same_v<Sums, ProductSizeAndNorm<double>> ||
    std::is_same_v<Sums, ProductSizeAndScaledNorm<double>>;

// The rows of this many later entries are prefetched, which the processor cannot predict. If they are far
// apart, more rows under way read faster; all of them fit into half of a first-level cache of 32 KiB.
inline constexpr Offset fetched_ahead = 256;

template <bool scatters, bool gathers, class Sums, class T>
void add_entries(bool conjugate_i, bool conjugate_j, CscMatrix<T> const& a, IndexRange columns,
                 RowOfPass<Sums>* rows) {
    Offset const last = a.stored() - 1;
    Index const* const row_ind = a.row_ind.data();
    T const* const values = a.values.data();
    for (Index const j : columns) {
        Sums sums_j{};
        auto const x_j = rows[j].x;
        for (Offset const p : a.entries_of(j)) {
            __builtin_prefetch(rows + row_ind[std::min(p + fetched_ahead, last)], scatters);
            Index const i = row_ind[p];
            T const value = values[p];
            if constexpr (gathers) sums_j.add(conj_if(conjugate_j, value), rows[i].x);
            if constexpr (scatters)
                if (!gathers || i != j) rows[i].sums.add(conj_if(conjugate_i, value), x_j);
        }
        if constexpr (gathers) rows[j].sums.add(sums_j);
    }
}

// The sums of a row and its entry of x, or those of an entry of the matrix, side by side.
using Lanes = vector::VectorOf<double, 4>;
typedef std::int64_t LaneBits __attribute__((vector_size(sizeof(Lanes))));
inline constexpr std::int64_t all_bits = -1, no_sign = std::numeric_limits<std::int64_t>::max();

// (a, |a|, |a|, 0)
ESPALIER_INLINE void spread_entry(double a, Lanes& to) {
    to = Lanes{a, a, a, a};
    to = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(to) & LaneBits{all_bits, no_sign, no_sign, 0});
}
// (x, |x|, factor, 0), by which an entry is multiplied.
ESPALIER_INLINE void spread_x(double x, Lanes& to) {
    to = Lanes{x, x, x, x};
    to = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(to) & LaneBits{all_bits, no_sign, 0, 0});
    to += Lanes{0, 0, 1, 0};
}
ESPALIER_INLINE void spread_x(ScaledEntry<double> const& x, Lanes& to) {
    to = Lanes{x.x, x.x, x.factor, 0};
    to = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(to) & LaneBits{all_bits, no_sign, all_bits, 0});
}

// Works like add_entries(), on rows that begin with the lanes (product, size, norm, x). The lane x does not
// change.
template <bool scatters, bool gathers, class Row> struct AddLanes {
    // The sums are copied as lanes across the members of a class and of its bases.
    static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row::sums) == 3 * sizeof(double) &&
                  sizeof(Row) >= sizeof(Lanes));
    ESPALIER_INLINE static void run(CscMatrix<double> const& a, IndexRange columns, Row* rows) {
        Index const* const row_ind = a.row_ind.data();
        double const* const values = a.values.data();
        auto const add_to = [](Row& row, Lanes const& lanes) ESPALIER_INLINE_LAMBDA {
            Lanes sums;
            std::memcpy(&sums, static_cast<void const*>(&row), sizeof(Lanes));
            sums += lanes;
            std::memcpy(static_cast<void*>(&row), &sums, sizeof(Lanes));
        };
        for (Index j = columns.first; j < columns.last; ++j) {
            Offset p = a.col_ptr[j];
            Offset const end = a.col_ptr[j + 1],
                         ahead = end + fetched_ahead <= a.stored() ? fetched_ahead : 0;
            Lanes x_j = {}, x_i = {}, entry = {}, sums_j = {};
            for (Offset q = p; q < end; q += 8) { // the entries themselves, too
                __builtin_prefetch(row_ind + q + 512);
                __builtin_prefetch(values + q + 512);
            }
            spread_x(rows[j].x, x_j);
            if (gathers && scatters && p < end && row_ind[p] == j) { // the diagonal, once
                spread_entry(values[p++], entry);
                sums_j = entry * x_j;
            }
            for (; p < end; ++p) {
                __builtin_prefetch(rows + row_ind[p + ahead], scatters);
                Row& row = rows[row_ind[p]];
                spread_entry(values[p], entry);
                if constexpr (gathers) {
                    spread_x(row.x, x_i);
                    sums_j += entry * x_i;
                }
                if constexpr (scatters) add_to(row, entry * x_j);
            }
            if constexpr (gathers) add_to(rows[j], sums_j);
        }
    }
};

#if defined(__x86_64__)
// Without fused multiply-adds, so that products that cancel after rounding leave nothing.
template <class Body, class... Args> [[gnu::target("avx2")]] void run_with_avx2(Args&... args) {
    Body::run(args...);
}
#endif

// Body::run(args...) with the widest vectors for lanes.
template <class Body, class... Args> void run_lanes(Args&&... args) {
#if defined(__x86_64__)
    if (widest_instruction_set() >= InstructionSet::avx2) return run_with_avx2<Body>(args...);
#endif
    Body::run(args...);
}

// Adds the entries of row i of op(A) that the columns store to rows[i].sums. A stored entry a(i, j)
// contributes to row i (`scatters`), to row j (`gathers`) or to both, and the diagonal once.
template <bool scatters, bool gathers, class Sums, class T>
void add_columns(bool conjugate_i, bool conjugate_j, CscMatrix<T> const& a, IndexRange columns,
                 RowOfPass<Sums>* rows) {
    if constexpr (has_lanes<Sums>) {
        using Body = AddLanes<scatters, gathers, RowOfPass<Sums>>;
#if defined(__x86_64__)
        if (widest_instruction_set() >= InstructionSet::avx2) return run_with_avx2<Body>(a, columns, rows);
#endif
        Body::run(a, columns, rows);
    } else {
        add_entries<scatters, gathers>(conjugate_i, conjugate_j, a, columns, rows);
    }
}

template <class Sums, class T>
void add_columns(MatrixOp op, CscMatrix<T> const& a, IndexRange columns, RowOfPass<Sums>* rows) {
    bool const turned = op != MatrixOp::none, conjugate = op == MatrixOp::adjoint;
    bool const conjugate_mirror = conjugate != (a.symmetry == Symmetry::hermitian);
    if (a.symmetry == Symmetry::general)
        return turned ? add_columns<false, true>(conjugate, conjugate, a, columns, rows)
                      : add_columns<true, false>(conjugate, conjugate, a, columns, rows);
    add_columns<true, true>(turned ? conjugate_mirror : conjugate, turned ? conjugate : conjugate_mirror, a,
                            columns, rows);
}

} // namespace espalier
