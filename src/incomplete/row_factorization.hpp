// The factorization of one row after the other (the IKJ variant of Gaussian elimination), on scalars or dense
// blocks.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "incomplete/dependence_prefetch.hpp"
#include "incomplete/entry_map.hpp"
#include "incomplete/row_storage.hpp"
#include "runtime/memory.hpp"

namespace espalier {

/// The pivots of a row that are accepted, and the pivot that replaces others.
template <class T> struct PivotBound {
    Real<T> smallest;
    Real<T> substitute;
};

/// Replaces small pivots. A pivot is small if its modulus is below `threshold` times the largest entry of its
/// row of A. If pivots must be positive, a pivot is small if it is not above `threshold` times its diagonal
/// entry, so that symmetric scalings of A change nothing; a tiny substitute would make the factor of a
/// breakdown explode.
template <class T> struct PivotRule {
    Real<T> threshold;
    bool positive;
    Real<T> diagonal_factor; ///< 1 + alpha: the diagonal of A is multiplied by it.

    [[nodiscard]] PivotBound<T> bound(Real<T> largest, T diagonal) const {
        if (positive && real_part(diagonal) > 0)
            return {threshold * real_part(diagonal), real_part(diagonal)};
        Real<T> const smallest = largest > 0 ? threshold * largest : Real<T>(1);
        return {smallest, positive && largest > 0 ? largest : smallest};
    }
    [[nodiscard]] bool accepts(T pivot, PivotBound<T> const& bound) const {
        return positive ? real_part(pivot) > bound.smallest : abs1(pivot) >= bound.smallest;
    }

    /// Returns the pivot to use; counts a replacement.
    T accept(T pivot, PivotBound<T> const& bound, Index& replaced) const {
        if (accepts(pivot, bound)) return positive ? T(real_part(pivot)) : pivot;
        ++replaced;
        Real<T> const size = abs1(pivot);
        return positive || !(size > 0) ? T(bound.substitute) : pivot * (bound.substitute / size);
    }
};

/// Inverts a B x B block in place, by elimination with row interchanges inside the block. There are no
/// interchanges if pivots must be positive. `bounds` are those of the B pivots.
template <class T, int B>
void invert_block(T* a, T* inverse, PivotRule<T> const& rule, PivotBound<T> const* bounds, Index& replaced) {
    int row[B];
    for (int k = 0; k < B; ++k) row[k] = k;
    for (int k = 0; k < B; ++k) {
        int best = k;
        if (!rule.positive)
            for (int i = k + 1; i < B; ++i)
                if (abs1(a[i + k * B]) > abs1(a[best + k * B])) best = i;
        std::swap(row[k], row[best]);
        for (int j = 0; j < B; ++j) std::swap(a[k + j * B], a[best + j * B]);
        a[k + k * B] = T(1) / rule.accept(a[k + k * B], bounds[k], replaced);
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

/// The arrays that hold the rows. The factorization reads the values of A and writes the other arrays.
template <class T> struct FactorArrays {
    EntryMap const& entries;
    ExecutionOrder const& order;
    T const* a;
    RowStorage<T> const& lower;
    RowStorage<T> const& upper;
    T* inverse; ///< Inverse diagonal blocks by position.
    PivotRule<T> pivots;
    /// Whether elimination changes only the pivots (diagonal_elimination.hpp). There is no fill then.
    bool changes_only_pivots;
};

/// Factorizes rows on one worker. Does not throw after its construction.
class RowFactorizer {
  public:
    virtual ~RowFactorizer() = default;
    /// Called before the rows of a block of rows (row_arrangement.hpp), whose positions are first .. end - 1,
    /// are factorized. May write their values of A to the places of the factors, in the order of A: the rows
    /// have another order, in which values would come from distant lines of memory. With fill this is slower.
    virtual void load_rows([[maybe_unused]] BlockRow first, [[maybe_unused]] BlockRow end) noexcept {}
    /// Rows first .. end - 1, after all rows that they depend on.
    virtual void factorize_rows(BlockRow first, BlockRow end) noexcept = 0;
    /// Number of replaced pivots so far.
    [[nodiscard]] Index replaced() const { return replaced_; }
    /// Whether a pivot was replaced although its diagonal entry is acceptable. A larger diagonal avoids this.
    [[nodiscard]] bool needs_shift() const { return needs_shift_; }

  protected:
    /// Returns the pivot to use. Counts a replacement. `diagonal` is the diagonal entry of A.
    template <class T> T accept(PivotRule<T> const& rule, T pivot, T diagonal, PivotBound<T> const& bound) {
        Index const replaced = replaced_;
        T const accepted = rule.accept(pivot, bound, replaced_);
        if (replaced_ > replaced && rule.accepts(diagonal, bound)) needs_shift_ = true;
        return accepted;
    }

    Index replaced_ = 0;
    bool needs_shift_ = false;
};

/// Rows of B x B blocks. The current row has an index for each block row. It is zero before the first
/// RowFactorization that uses it, and after each.
template <class T, int B> class RowFactorization final : public RowFactorizer {
  public:
    RowFactorization(FactorArrays<T> const& arrays, Arena& current_row, std::int32_t longest_row)
        : arrays_(arrays), prefetch_(arrays.lower, arrays.upper, arrays.inverse),
          slot_of_(current_row.as<std::int32_t>()),
          values_(static_cast<std::size_t>(longest_row + 1) * block_entries) {}

    void factorize_rows(BlockRow first, BlockRow end) noexcept override {
        for (BlockRow p = first; p < end; ++p) {
            prefetch_.before(p);
            factorize(p);
        }
    }

  private:
    /// Factorizes row p, after all rows that it depends on. Not inlined, because GCC 12 makes the loop over
    /// rows 5 % slower if it inlines it. Aligned, because otherwise its speed depends on code elsewhere.
    [[gnu::noinline, gnu::aligned(64)]] void factorize(BlockRow p) noexcept {
        auto const& [entries, order, a, lower, upper, inverse, pivots, only_pivots] = arrays_;
        BlockRow const* const left = lower.columns() + lower.begin(p);
        BlockRow const* const right = upper.columns() + upper.begin(p);
        std::int32_t const num_left = lower.length(p), num_right = upper.length(p);
        for (std::int32_t s = 0; s < num_left; ++s) slot_of_[left[s]] = s + 1;
        slot_of_[p] = num_left + 1;
        for (std::int32_t s = 0; s < num_right; ++s) slot_of_[right[s]] = num_left + 2 + s;
        Real<T> const largest = gather(p, (num_left + 1 + num_right) * block_entries);
        T* const diagonal = value(num_left);
        PivotBound<T> bounds[B];
        bool is_acceptable = true;
        for (int k = 0; k < B; ++k) {
            T& entry = diagonal[k + k * B];
            entry *= pivots.diagonal_factor;
            bounds[k] = pivots.bound(largest, entry);
            is_acceptable = is_acceptable && pivots.accepts(entry, bounds[k]);
        }

        T* factor = lower.values() + lower.begin(p) * block_entries;
        for (std::int32_t s = 0; s < num_left; ++s, factor += block_entries) eliminate(s, left[s], factor);

        std::copy_n(diagonal + block_entries, num_right * block_entries,
                    upper.values() + upper.begin(p) * block_entries);
        Index const replaced = replaced_;
        invert_block<T, B>(diagonal, inverse + Index(p) * block_entries, pivots, bounds, replaced_);
        needs_shift_ = needs_shift_ || (replaced_ > replaced && is_acceptable);

        for (std::int32_t s = 0; s < num_left; ++s) slot_of_[left[s]] = 0;
        slot_of_[p] = 0;
        for (std::int32_t s = 0; s < num_right; ++s) slot_of_[right[s]] = 0;
    }

    static constexpr Index block_entries = Index(B) * B;

    T* value(std::int32_t slot) { return values_.data() + (slot + 1) * block_entries; }

    /// Copies the values of A to the row, which has `size` values, and returns their largest modulus.
    Real<T> gather(BlockRow p, Index size) {
        EntryMap const& entries = arrays_.entries;
        Offset const first = entries.begin(p), end = entries.end(p);
        Real<T> largest[B] = {}; // by the rows of whole blocks
        if (entries.is_in_order()) {
            T* to = value(0);
            for (Offset e = first; e < end; ++e, to += block_entries)
                entries.copy<B>(arrays_.a, e, to, largest);
        } else {
            std::fill_n(value(0), size, T(0));
            for (Offset e = first; e < end; ++e) {
                T* const block = value(slot_of_[entries.column(e)] - 1);
                entries.copy<B>(arrays_.a, e, block + entries.in_block(e), largest);
            }
        }
        return *std::max_element(largest, largest + B);
    }

    /// l(k) = a(k) u(k, k)^-1, and a(j) -= l(k) u(k, j) for the columns j of this row.
    void eliminate(std::int32_t slot, BlockRow k, T* factor) {
        std::fill_n(factor, block_entries, T(0));
        accumulate(value(slot), arrays_.inverse + Index(k) * block_entries, factor, T(1));
        auto const& upper = arrays_.upper;
        BlockRow const* const columns = upper.columns() + upper.begin(k);
        T const* const blocks = upper.values() + upper.begin(k) * block_entries;
        for (std::int32_t e = 0; e < upper.length(k); ++e)
            if (std::int32_t const found = slot_of_[columns[e]]; found > 0)
                accumulate(factor, blocks + e * block_entries, value(found - 1), T(-1));
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
    DependencePrefetch<T, B> prefetch_;
    std::span<std::int32_t> slot_of_; ///< 1 + the slot of each column of the current row, or 0.
    std::vector<T> values_;           ///< The current row: L, diagonal, U.
};

/// Calls visit(column, value) for the entries of a row of scalars.
template <class T, class Visit>
[[gnu::always_inline]] inline void visit_row(RowStorage<T> const& part, BlockRow p, Visit const& visit) {
    BlockRow const* column = part.columns() + part.begin(p);
    T* value = part.values() + part.begin(p);
    std::int32_t const length = part.length(p);
    if (part.stride(p) == 1) {
        std::int32_t e = 0;
        for (; e + 1 < length; e += 2) {
            visit(column[e], value[e]);
            visit(column[e + 1], value[e + 1]);
        }
        if (e < length) visit(column[e], value[e]);
    } else {
        for (std::int32_t e = length; e > 0; --e, column += group_rows, value += group_rows)
            visit(*column, *value);
    }
}

/// Rows of scalars. The current row has an entry for each column. Entries outside of the pattern of the row
/// are also updated, but never read, which is faster than looking for the others.
template <class T> class RowFactorization<T, 1> final : public RowFactorizer {
  public:
    RowFactorization(FactorArrays<T> const& arrays, Arena& current_row, std::int32_t)
        : arrays_(arrays), prefetch_(arrays.lower, arrays.upper, arrays.inverse),
          ascends_(has_long_rows() && !arrays.order.follows_closely), row_(current_row.as<T>().data()),
          loads_(has_long_rows() && arrays.entries.is_in_order()) {}

    void load_rows(BlockRow first, BlockRow end) noexcept override {
        if (!loads_) return;
        auto const& order = arrays_.order;
        for (BlockRow k = first; k < end; ++k) {
            BlockRow const later = std::min(k + rows_ahead, end - 1);
            load(order.position_of[order.ascending[k]], order.position_of[order.ascending[later]]);
        }
    }
    void factorize_rows(BlockRow first, BlockRow end) noexcept override {
        auto const& order = arrays_.order;
        auto const ascending = [&](BlockRow number) { return order.position_of[order.ascending[number]]; };
        for (BlockRow k = first; k < end; ++k) {
            if (ascends_) {
                prefetch_.before(k, ascending);
                factorize(ascending(k));
            } else {
                prefetch_.before(k);
                factorize(k);
            }
        }
    }

  private:
    static constexpr BlockRow rows_ahead = 2; ///< By which prefetches of values of A run ahead.

    [[nodiscard]] bool has_long_rows() const { return prefetch_.is_active(); }

    /// Copies the values of row p. Prefetches those of a later row.
    void load(BlockRow p, BlockRow later) {
        EntryMap const& entries = arrays_.entries;
        T const* const a = arrays_.a;
        for (Offset e = entries.begin(later); e < entries.end(later); ++e) entries.prefetch(a, e);
        Offset entry = entries.begin(p);
        auto const copy_value = [&](BlockRow, T& value)
                                    __attribute__((always_inline)) { value = entries.value(a, entry++); };
        visit_row(arrays_.lower, p, copy_value);
        copy_value(p, arrays_.inverse[p]);
        visit_row(arrays_.upper, p, copy_value);
    }

    void factorize(BlockRow p) noexcept {
        EntryMap const& entries = arrays_.entries;
        T const* const a = arrays_.a;
        RowStorage<T> const &lower = arrays_.lower, &upper = arrays_.upper;
        T* const inverse = arrays_.inverse;
        PivotRule<T> const& pivots = arrays_.pivots;
        T* const row = row_;
        Offset entry = entries.begin(p);
        Offset const end = entries.end(p);
        Real<T> largest = 0;
        auto const put = [&](BlockRow column, T value) __attribute__((always_inline)) {
            row[column] = value;
            largest = std::max(largest, abs1(value));
        };
        if (loads_) {
            visit_row(lower, p, put);
            put(p, inverse[p]);
            visit_row(upper, p, put);
        } else if (entries.is_in_order()) {
            auto const take = [&](BlockRow column, T&) __attribute__((always_inline)) {
                entries.prefetch_later(a, entry);
                put(column, entries.value(a, entry++));
            };
            visit_row(lower, p, take);
            take(p, inverse[p]);
            visit_row(upper, p, take);
        } else {
            if (end - entry < lower.length(p) + 1 + upper.length(p)) { // this row has fill
                visit_row(lower, p, [row](BlockRow k, T&) { row[k] = 0; });
                visit_row(upper, p, [row](BlockRow j, T&) { row[j] = 0; });
                row[p] = 0;
            }
            while (entry < end) {
                entries.prefetch_later(a, entry);
                put(entries.column(entry), entries.value(a, entry));
                ++entry;
            }
        }
        row[p] *= pivots.diagonal_factor;
        T const diagonal = row[p];
        // l(k) = a(k) / u(k, k), and a(j) -= l(k) u(k, j).
        if (arrays_.changes_only_pivots)
            visit_row(
                lower, p, [&, row, inverse ](BlockRow k, T & factor) __attribute__((always_inline)) {
                    factor = times(row[k], inverse[k]);
                    row[p] -= times(factor, upper_entry(k, p));
                });
        else
            visit_row(
                lower, p, [&, row, inverse ](BlockRow k, T & factor) __attribute__((always_inline)) {
                    factor = times(row[k], inverse[k]);
                    subtract(factor, k);
                });
        visit_row(upper, p, [row](BlockRow j, T& value) { value = row[j]; });
        inverse[p] = T(1) / accept(pivots, row[p], diagonal, pivots.bound(largest, diagonal));
    }

    /// a(j) -= factor * u(k, j). Not unrolled: two entries at a time take up to 15 % longer for long rows.
    [[gnu::always_inline]] inline void subtract(T factor, BlockRow k) const {
        RowStorage<T> const& upper = arrays_.upper;
        BlockRow const* column = upper.columns() + upper.begin(k);
        T const* value = upper.values() + upper.begin(k);
        std::int32_t const length = upper.length(k);
        T* const row = row_;
        if (upper.stride(k) == 1)
            for (std::int32_t e = 0; e < length; ++e) row[column[e]] -= times(factor, value[e]);
        else
            for (std::int32_t e = length; e > 0; --e, column += group_rows, value += group_rows)
                row[*column] -= times(factor, *value);
    }

    /// u(k, j), which is in the symmetric pattern.
    T upper_entry(BlockRow k, BlockRow j) const {
        RowStorage<T> const& upper = arrays_.upper;
        Index const stride = upper.stride(k);
        BlockRow const* const column = upper.columns() + upper.begin(k);
        Index e = 0;
        while (column[e] != j) e += stride;
        return upper.values()[upper.begin(k) + e];
    }

    FactorArrays<T> arrays_;
    DependencePrefetch<T, 1> prefetch_;
    /// Whether the rows of a block of rows are factorized in ascending order. Neighbors in a matrix with
    /// long rows often read the same rows of U.
    bool ascends_;
    T* row_;
    bool loads_; ///< Whether load_rows() copies the values of A. For short rows this would take longer.
};

} // namespace espalier
