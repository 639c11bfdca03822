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

// An entry of x and its modulus, which is computed once.
template <class T> struct SizedEntry {
    T value;
    Real<T> size;
};

// The sum of some products a x, and of their moduli.
template <class T> struct ProductAndSize {
    using Entry = std::conditional_t<is_complex<T>, SizedEntry<T>, T>;
    T product;
    Real<T> size;
    void start(T value) { *this = {value, 0}; }
    // `a_size` is the modulus of a.
    void add(T a, double a_size, T x, Real<T> x_size) {
        product += times(a, x);
        size += static_cast<Real<T>>(a_size) * x_size;
    }
    void add(T a, double a_size, Entry const& x) {
        if constexpr (is_complex<T>)
            add(a, a_size, x.value, x.size);
        else
            add(a, a_size, x, std::abs(x));
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
    void add(T a, double a_size, typename ProductAndSize<T>::Entry const& x) {
        ProductAndSize<T>::add(a, a_size, x);
        norm += a_size;
    }
    void add(ProductSizeAndNorm const& other) {
        ProductAndSize<T>::add(other);
        norm += other.norm;
    }
};

// An entry of x and the factor of its column.
template <class T> struct ScaledEntry {
    typename ProductAndSize<T>::Entry x;
    double factor;
};

// Like ProductSizeAndNorm, for a matrix whose columns have factors.
template <class T> struct ProductSizeAndScaledNorm : ProductSizeAndNorm<T> {
    using Entry = ScaledEntry<T>;
    using ProductSizeAndNorm<T>::add;
    void add(T a, double a_size, Entry const& entry) {
        ProductAndSize<T>::add(a, a_size, entry.x);
        this->norm += a_size * entry.factor;
    }
};

// The sums that take the least time and include the norm.
template <class T> using SumsWithNorm =
    std::conditional_t<is_complex<T>, ProductSizeAndScaledNorm<T>, ProductSizeAndNorm<T>>;

// An entry of x for these sums, and the factor of its column.
template <class Sums, class T> typename Sums::Entry make_entry(T value, double factor) {
    using Entry = typename ProductAndSize<T>::Entry;
    Entry const entry = [&]() -> Entry {
        if constexpr (is_complex<T>)
            return {value, static_cast<Real<T>>(modulus(value))};
        else
            return value;
    }();
    if constexpr (std::is_same_v<typename Sums::Entry, Entry>)
        return entry;
    else
        return {entry, factor};
}

// The modulus of an entry of x.
template <class T> double size_of_entry(T value) {
    return modulus(value);
}
template <class T> double size_of_entry(SizedEntry<T> const& entry) {
    return static_cast<double>(entry.size);
}
template <class T> double size_of_entry(ScaledEntry<T> const& entry) {
    return size_of_entry<T>(entry.x);
}

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

// Whether the sums of a row are the lanes (Re, Im, size, norm), and its entry of x the lanes (Re, Im, |x|,
// factor).
template <class Sums> inline constexpr bool has_complex_lanes =
    std::is_same_v<Sums, ProductSizeAndScaledNorm<std::complex<double>>>;

// The rows of this many later entries are prefetched, which the processor cannot predict. If they are far
// apart, more rows under way read faster; all of them fit into half of a first-level cache of 32 KiB.
inline constexpr Offset fetched_ahead = 256;

// modulus() is not inlined into code for AVX2. A call to code for other instructions in each entry would take
// several times as long as the rest.
ESPALIER_INLINE double modulus_of(double value) {
    return __builtin_fabs(value);
}
ESPALIER_INLINE double modulus_of(double re, double im) {
    double const sum = re * re + im * im;
    bool const is_zero = re == 0 && im == 0;
    if ((sum >= least_sum_of_squares && sum <= largest_sum_of_squares) || is_zero) [[likely]]
        return __builtin_sqrt(sum);
    return modulus(std::complex<double>(re, im));
}
ESPALIER_INLINE double modulus_of(std::complex<double> value) {
    return modulus_of(value.real(), value.imag());
}

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
            double const size = modulus_of(value);
            if constexpr (gathers) sums_j.add(conj_if(conjugate_j, value), size, rows[i].x);
            if constexpr (scatters)
                if (!gathers || i != j) rows[i].sums.add(conj_if(conjugate_i, value), size, x_j);
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

// Re and Im of x in turn, by which Im of an entry is multiplied.
ESPALIER_INLINE void turn_x(Lanes const& x, Lanes& to) {
    to = Lanes{x[1], x[0], 0, 0};
}

// Works like add_entries(), on rows with complex lanes.
template <bool scatters, bool gathers, class Row> struct AddComplexLanes {
    static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row::sums) == sizeof(Lanes) &&
                  sizeof(Row::x) == sizeof(Lanes));
    ESPALIER_INLINE static void run(CscMatrix<std::complex<double>> const& a, IndexRange columns, Row* rows,
                                    bool conjugate_i, bool conjugate_j) {
        Index const* const row_ind = a.row_ind.data();
        std::complex<double> const* const values = a.values.data();
        double const sign_i = conjugate_i ? -1 : 1, sign_j = conjugate_j ? -1 : 1;
        auto const add_to = [](Row& row, Lanes const& lanes) ESPALIER_INLINE_LAMBDA {
            Lanes sums;
            std::memcpy(&sums, static_cast<void const*>(&row.sums), sizeof(Lanes));
            sums += lanes;
            std::memcpy(static_cast<void*>(&row.sums), &sums, sizeof(Lanes));
        };
        for (Index j = columns.first; j < columns.last; ++j) {
            Offset const begin = a.col_ptr[j], end = a.col_ptr[j + 1],
                         ahead = end + fetched_ahead <= a.stored() ? fetched_ahead : 0;
            Lanes x_j = {}, turned_j = {}, x_i = {}, turned_i = {}, sums_j = {};
            std::memcpy(&x_j, static_cast<void const*>(&rows[j].x), sizeof(Lanes));
            turn_x(x_j, turned_j);
            for (Offset p = begin; p < end; ++p) {
                __builtin_prefetch(rows + row_ind[p + ahead], scatters);
                Row& row = rows[row_ind[p]];
                double const re = values[p].real(), im = values[p].imag();
                double const size = modulus_of(re, im);
                Lanes const entry = {re, re, size, size};
                if constexpr (gathers) {
                    double const im_j = sign_j * im;
                    std::memcpy(&x_i, static_cast<void const*>(&row.x), sizeof(Lanes));
                    turn_x(x_i, turned_i);
                    sums_j += entry * x_i + Lanes{-im_j, im_j, 0, 0} * turned_i;
                }
                if constexpr (scatters) {
                    double const im_i = sign_i * im;
                    if (!gathers || row_ind[p] != j)
                        add_to(row, entry * x_j + Lanes{-im_i, im_i, 0, 0} * turned_j);
                }
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
    } else if constexpr (has_complex_lanes<Sums>) {
        run_lanes<AddComplexLanes<scatters, gathers, RowOfPass<Sums>>>(a, columns, rows, conjugate_i,
                                                                       conjugate_j);
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
