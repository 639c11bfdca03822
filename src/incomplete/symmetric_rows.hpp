// The factorization of the rows of a symmetric or Hermitian matrix, on scalars. L has the conjugates of the
// entries of U, divided by the pivots, so rows of U alone are computed, and only the values of A on and right
// of the diagonal are read.
#pragma once

#include <algorithm>
#include <span>

#include "incomplete/row_factorization.hpp"

namespace espalier {

/// A, whose values are those of FactorArrays.
template <class T> struct SymmetricMatrix {
    CscMatrix<T> const& matrix;
    std::span<BlockRow const> row_at; ///< The rows of A by position.
    /// A bound of all moduli. May be 0 if one worker factorizes all rows, because it then finds the largest
    /// entry of the rows before itself. Not used if pivots must be positive.
    Real<T> largest;
};

/// Rows of scalars. The current row has an entry for each column. Entries outside of the pattern of the row
/// are also updated, but never read, which is faster than looking for the others.
template <class T> class SymmetricRowFactorization final : public RowFactorizer {
  public:
    SymmetricRowFactorization(FactorArrays<T> const& arrays, SymmetricMatrix<T> const& a, Arena& current_row)
        : arrays_(arrays), prefetch_(arrays.lower, arrays.upper, arrays.inverse), a_(a),
          row_(current_row.as<T>().data()), largest_(a.largest),
          is_hermitian_(is_complex<T> && a.matrix.symmetry == Symmetry::hermitian),
          loads_(arrays.entries.has_columns() && arrays.entries.is_in_order()) {}

    void load_rows(BlockRow first, BlockRow end) noexcept override {
        if (!loads_) return;
        prefetch_places(first, end);
        Real<T> largest = largest_; // in a register
        for (BlockRow k = first; k < end; ++k) load(arrays_.order.ascending[k], largest);
        largest_ = largest;
    }
    void factorize_rows(BlockRow first, BlockRow end) noexcept override {
        for (BlockRow p = first; p < end; ++p)
            if (loads_ && arrays_.changes_only_pivots) {
                find_pivot(p);
            } else {
                prefetch_.before(p);
                factorize(p);
            }
    }

  private:
    /// The row has been loaded, and U has its final values.
    void find_pivot(BlockRow p) noexcept {
        T& inverse = arrays_.inverse[p];
        T const diagonal = inverse * arrays_.pivots.diagonal_factor;
        T pivot = diagonal;
        visit_row(
            arrays_.lower, p, [&](BlockRow k, T & factor) __attribute__((always_inline)) {
                factor = eliminate(p, k, pivot, [](BlockRow, T) {});
            });
        inverse = T(1) / accept_pivot(p, pivot, diagonal);
    }

    void eliminate_pivot(BlockRow p, T& pivot) const {
        visit_row(
            arrays_.lower, p, [&](BlockRow k, T & factor) __attribute__((always_inline)) {
                factor = eliminate(p, k, pivot, [](BlockRow, T) {});
            });
    }

    void factorize(BlockRow p) noexcept {
        RowStorage<T> const &lower = arrays_.lower, &upper = arrays_.upper;
        T* const row = row_;
        gather(p);
        T const diagonal = row[p] * arrays_.pivots.diagonal_factor;
        T pivot = diagonal;
        visit_row(
            lower, p, [&](BlockRow k, T & factor) __attribute__((always_inline)) {
                factor = eliminate(p, k, pivot, [row](BlockRow j, T value) { row[j] -= value; });
            });
        visit_row(upper, p, [row](BlockRow j, T& value) { value = row[j]; });
        arrays_.inverse[p] = T(1) / accept_pivot(p, pivot, diagonal);
    }

    /// Subtracts l(p, k) u(k, p) from the pivot. Calls subtract(j, l(p, k) u(k, j)) for the columns j behind
    /// p in row k. Returns l(p, k).
    template <class Subtract> [[gnu::always_inline]] inline T eliminate(BlockRow p, BlockRow k, T& pivot,
                                                                        Subtract const& subtract) const {
        auto const& upper = arrays_.upper;
        Index const stride = upper.stride(k), begin = upper.begin(k), length = upper.length(k) * stride;
        BlockRow const* const column = upper.columns() + begin;
        T const* const value = upper.values() + begin;
        Index e = 0;
        while (column[e] != p) e += stride; // the pattern is symmetric
        T const factor = times(conj_if(is_hermitian_, value[e]), arrays_.inverse[k]);
        pivot -= times(factor, value[e]);
        for (e += stride; e < length; e += stride) subtract(column[e], times(factor, value[e]));
        return factor;
    }

    /// Prefetches the memory that load() writes in the order of A, which has no regular distances.
    void prefetch_places(BlockRow first, BlockRow end) const {
        constexpr Index line = 64 / sizeof(T);
        auto const& upper = arrays_.upper;
        for (BlockRow k = first; k < end; k += line) __builtin_prefetch(arrays_.inverse + k, 1);
        // A backward sweep has the last row first.
        Offset const last = upper.begin(first) + upper.length(first) * upper.stride(first);
        for (Offset e = upper.begin(end - 1); e < last; e += line) __builtin_prefetch(upper.values() + e, 1);
    }

    /// Copies column i of A to the places of its row of U and of its pivot, and raises `largest`.
    [[gnu::always_inline]] inline void load(BlockRow i, Real<T>& largest) {
        auto const& [entries, order, a, lower, upper, inverse, pivots, only_pivots] = arrays_;
        BlockRow const p = order.position_of[i];
        T const* next = a + a_.matrix.col_ptr[i];
        put(*next, inverse[p], largest);
        visit_row(upper, p, [&](BlockRow, T& value) __attribute__((always_inline)) {
            put(conj_if(is_hermitian_, *++next), value, largest);
        });
    }

    /// Copies the values of A in the columns from p on.
    void gather(BlockRow p) {
        if (loads_) {
            row_[p] = arrays_.inverse[p];
            visit_row(arrays_.upper, p, [row = row_](BlockRow j, T& value) { row[j] = value; });
            return;
        }
        EntryMap const& entries = arrays_.entries;
        auto const& upper = arrays_.upper;
        T const* const a = arrays_.a;
        T* const row = row_;
        if (!entries.has_columns()) {
            Offset const first = entries.begin(p), end = entries.end(p);
            if (end - first <= upper.length(p)) clear(p); // the row has fill
            for (Offset e = first; e < end; ++e) {
                entries.prefetch_later(a, e);
                put(entries.value(a, e), row[entries.column(e)], largest_);
            }
            return;
        }
        auto const& matrix = a_.matrix;
        BlockRow const* const row_at = arrays_.order.row_at.data();
        BlockRow const last = arrays_.order.num_rows() - 1;
        __builtin_prefetch(matrix.col_ptr.data() + row_at[std::min(p + 2 * rows_ahead, last)]);
        Offset const later = matrix.col_ptr[row_at[std::min(p + rows_ahead, last)]];
        prefetch(a + later);
        Offset const first = matrix.col_ptr[row_at[p]], end = matrix.col_ptr[row_at[p] + 1];
        if (std::uint32_t given = entries.given(p); given != 0) {
            T const* next = a + first;
            put(*next, row[p], largest_);
            visit_row(upper, p, [&](BlockRow j, T&) __attribute__((always_inline)) {
                put((given & 1) != 0 ? conj_if(is_hermitian_, *++next) : T(0), row[j], largest_);
                given >>= 1;
            });
            return;
        }
        prefetch(matrix.row_ind.data() + later);
        BlockRow const* const position_of = arrays_.order.position_of.data();
        clear(p);
        for (Offset e = first; e < end; ++e)
            put(conj_if(is_hermitian_, a[e]), row[position_of[matrix.row_ind[e]]], largest_);
    }

    /// Writes an entry of A and raises `largest` to its modulus. Entries of row p left of the diagonal are
    /// entries of the rows before.
    [[gnu::always_inline]] static inline void put(T value, T& place, Real<T>& largest) {
        place = value;
        largest = std::max(largest, abs1(value));
    }

    void clear(BlockRow p) {
        row_[p] = 0;
        visit_row(arrays_.upper, p, [row = row_](BlockRow j, T&) { row[j] = 0; });
    }

    template <class Entry> static void prefetch(Entry const* entries) {
        __builtin_prefetch(entries);
        __builtin_prefetch(entries + 3); // often in the next line of the cache
    }

    /// Returns the pivot to use. The largest entry of the row is looked for only if the pivot may be small.
    T accept_pivot(BlockRow p, T pivot, T diagonal) {
        auto const& pivots = arrays_.pivots;
        Real<T> const surely_accepted = pivots.threshold * largest_;
        if (!pivots.positive && abs1(pivot) >= surely_accepted && surely_accepted > 0) return pivot;
        bool const needs_largest = !(pivots.positive && real_part(diagonal) > 0);
        Real<T> const largest = needs_largest ? largest_in_row(p) : Real<T>(0);
        return accept(pivots, pivot, diagonal, pivots.bound(largest, diagonal));
    }

    /// The largest modulus in a row of A, both triangles included.
    Real<T> largest_in_row(BlockRow p) const {
        auto const& matrix = a_.matrix;
        Index const own = a_.row_at[p];
        Real<T> largest = 0;
        for (Offset const e : matrix.entries_of(own)) largest = std::max(largest, abs1(matrix.values[e]));
        auto const look_in = [&](BlockRow q, T&) {
            Index const column = a_.row_at[q];
            if (column > own) return;
            for (Offset const e : matrix.entries_of(column))
                if (matrix.row_ind[e] == own) largest = std::max(largest, abs1(matrix.values[e]));
        };
        visit_row(arrays_.lower, p, look_in);
        visit_row(arrays_.upper, p, look_in);
        return largest;
    }

    static constexpr BlockRow rows_ahead = 64; ///< By which prefetches run ahead.

    FactorArrays<T> arrays_;
    DependencePrefetch<T, 1> prefetch_;
    SymmetricMatrix<T> a_;
    T* row_;
    Real<T> largest_; ///< SymmetricMatrix::largest, or the largest modulus so far.
    bool is_hermitian_;
    bool loads_; ///< Whether load_rows() copies the values of A, which needs a factor without fill.
};

} // namespace espalier
