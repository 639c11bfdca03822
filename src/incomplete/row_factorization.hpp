// The factorization of one row after the other (the IKJ variant of Gaussian elimination), on scalars or dense
// blocks.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "incomplete/row_storage.hpp"

namespace espalier {

/// The entries of A that belong to each row of the factor, by position. Entry e of a row is
/// values[source[e]] of A, conjugated if source[e] < 0 (then of ~source[e]), and goes to slot[e] of the row.
struct EntryMap {
    std::vector<Offset> ptr{0};
    std::vector<Offset> source;
    std::vector<std::int32_t> slot; ///< Block of the row, times the entries of a block, plus entry in it.
};

/// Replaces pivots that are small: those with a modulus below `threshold` times the largest entry of their
/// row of A, or, if they must be positive, all that are not above it.
template <class T> struct PivotRule {
    Real<T> threshold;
    bool positive;

    /// The bound for a row.
    [[nodiscard]] Real<T> smallest(Real<T> largest) const {
        return largest > 0 ? threshold * largest : Real<T>(1);
    }

    /// Returns the pivot to use; counts a replacement.
    T accept(T pivot, Real<T> smallest, Index& replaced) const {
        if (positive ? real_part(pivot) > smallest : abs1(pivot) >= smallest)
            return positive ? T(real_part(pivot)) : pivot;
        ++replaced;
        Real<T> const size = abs1(pivot);
        return positive || !(size > 0) ? T(smallest) : pivot * (smallest / size);
    }
};

/// Inverts a B x B block, which is overwritten: elimination with row interchanges inside the block, without
/// them if pivots must be positive.
template <class T, int B>
void invert_block(T* a, T* inverse, PivotRule<T> const& rule, Real<T> smallest, Index& replaced) {
    int row[B];
    for (int k = 0; k < B; ++k) row[k] = k;
    for (int k = 0; k < B; ++k) {
        int best = k;
        if (!rule.positive)
            for (int i = k + 1; i < B; ++i)
                if (abs1(a[i + k * B]) > abs1(a[best + k * B])) best = i;
        std::swap(row[k], row[best]);
        for (int j = 0; j < B; ++j) std::swap(a[k + j * B], a[best + j * B]);
        a[k + k * B] = T(1) / rule.accept(a[k + k * B], smallest, replaced);
        for (int i = k + 1; i < B; ++i) {
            a[i + k * B] = times(a[i + k * B], a[k + k * B]);
            for (int j = k + 1; j < B; ++j) a[i + j * B] -= times(a[i + k * B], a[k + j * B]);
        }
    }
    // Column row[c] of the inverse solves L U x = unit vector c.
    for (int c = 0; c < B; ++c) {
        T* const x = inverse + row[c] * B;
        for (int i = 0; i < B; ++i) {
            x[i] = T(i == c);
            for (int k = 0; k < i; ++k) x[i] -= times(a[i + k * B], x[k]);
        }
        for (int i = B; i-- > 0;) {
            for (int k = i + 1; k < B; ++k) x[i] -= times(a[i + k * B], x[k]);
            x[i] = times(x[i], a[i + i * B]);
        }
    }
}

/// The arrays of the rows. The factorization reads the values of A and writes the others.
template <class T> struct FactorArrays {
    EntryMap const& entries;
    T const* a;
    RowStorage<T> const& lower;
    RowStorage<T> const& upper;
    T* inverse; ///< Inverse diagonal blocks by position.
    PivotRule<T> pivots;
};

/// Factorizes rows on one worker. Does not throw after its construction.
template <class T, int B> class RowFactorization {
  public:
    RowFactorization(FactorArrays<T> const& arrays, BlockRow num_rows, std::int32_t longest_row)
        : arrays_(arrays), slot_of_(num_rows, 0),
          values_(static_cast<std::size_t>(longest_row + 1) * block_entries) {}

    /// Number of replaced pivots so far.
    [[nodiscard]] Index replaced() const { return replaced_; }

    /// Row p after all rows that it depends on.
    void factorize(BlockRow p) noexcept {
        auto const& [entries, a, lower, upper, inverse, pivots] = arrays_;
        BlockRow const* const left = lower.columns() + lower.begin(p);
        BlockRow const* const right = upper.columns() + upper.begin(p);
        std::int32_t const num_left = lower.length(p), num_right = upper.length(p);
        Real<T> const largest = gather(p, num_left + 1 + num_right);
        for (std::int32_t s = 0; s < num_left; ++s) slot_of_[left[s]] = s + 1;
        slot_of_[p] = num_left + 1;
        for (std::int32_t s = 0; s < num_right; ++s) slot_of_[right[s]] = num_left + 2 + s;

        T* factor = lower.values() + lower.begin(p) * block_entries;
        for (std::int32_t s = 0; s < num_left; ++s, factor += block_entries) eliminate(s, left[s], factor);

        T* const diagonal = value(num_left);
        std::copy_n(diagonal + block_entries, num_right * block_entries,
                    upper.values() + upper.begin(p) * block_entries);
        invert_block<T, B>(diagonal, inverse + Index(p) * block_entries, pivots, pivots.smallest(largest),
                           replaced_);

        for (std::int32_t s = 0; s < num_left; ++s) slot_of_[left[s]] = 0;
        slot_of_[p] = 0;
        for (std::int32_t s = 0; s < num_right; ++s) slot_of_[right[s]] = 0;
    }

  private:
    static constexpr Index block_entries = Index(B) * B;
    static constexpr Offset entries_ahead = 64;

    T* value(std::int32_t slot) { return values_.data() + (slot + 1) * block_entries; }

    /// The row of A, with zeros where the factor has fill. Returns its largest entry.
    Real<T> gather(BlockRow p, std::int32_t blocks) {
        T* const row = value(0);
        std::fill_n(row, blocks * block_entries, T(0));
        Real<T> largest = 0;
        auto const& map = arrays_.entries;
        for (Offset e = map.ptr[p]; e < map.ptr[p + 1]; ++e) {
            prefetch(e + entries_ahead);
            Offset const source = map.source[e];
            T const entry = source >= 0 ? arrays_.a[source] : conj(arrays_.a[~source]);
            row[map.slot[e]] = entry;
            largest = std::max(largest, abs1(entry));
        }
        return largest;
    }

    /// The entries of A are far from each other, in the order in which rows are executed.
    void prefetch(Offset e) const {
        auto const& source = arrays_.entries.source;
        if (e >= std::ssize(source)) return;
        __builtin_prefetch(arrays_.a + (source[e] >= 0 ? source[e] : ~source[e]));
    }

    /// l(k) = a(k) u(k, k)^-1, and a(j) -= l(k) u(k, j) for the columns j of this row. Scalars are also
    /// subtracted for other columns, from a value that is never read: that is faster than a branch.
    void eliminate(std::int32_t slot, BlockRow k, T* factor) {
        std::fill_n(factor, block_entries, T(0));
        accumulate(value(slot), arrays_.inverse + Index(k) * block_entries, factor, T(1));
        auto const& upper = arrays_.upper;
        BlockRow const* const columns = upper.columns() + upper.begin(k);
        T const* const blocks = upper.values() + upper.begin(k) * block_entries;
        for (std::int32_t e = 0; e < upper.length(k); ++e)
            if (std::int32_t const found = slot_of_[columns[e]]; B == 1 || found > 0)
                accumulate(factor, blocks + e * block_entries, values_.data() + found * block_entries, T(-1));
    }

    /// c += sign * a b
    static void accumulate(T const* a, T const* b, T* c, T sign) {
        for (int j = 0; j < B; ++j)
            for (int k = 0; k < B; ++k) {
                T const scaled = sign * b[k + j * B];
                for (int i = 0; i < B; ++i) c[i + j * B] += times(a[i + k * B], scaled);
            }
    }

    FactorArrays<T> arrays_;
    std::vector<std::int32_t> slot_of_; ///< 1 + the slot of each column of the current row, or 0.
    std::vector<T> values_;             ///< A block that is never read, and the current row: L, diagonal, U.
    Index replaced_ = 0;
};

} // namespace espalier
