// The factorization of rows of scalars without fill if no two neighbors of a row are neighbors of each other.
// Elimination then changes only the pivots [Barrett et al. 1994: D-ILU].
#pragma once

#include <algorithm>

#include "incomplete/row_factorization.hpp"

namespace espalier {

/// Rows of a matrix with general storage, whose map has mirrors.
template <class T> class DiagonalElimination final : public RowFactorizer {
  public:
    explicit DiagonalElimination(FactorArrays<T> const& arrays)
        : arrays_(arrays), last_(arrays.order.num_rows() - 1) {}

    void factorize_rows(BlockRow first, BlockRow end) noexcept override {
        for (BlockRow p = first; p < end; ++p) {
            prefetch_later(p);
            factorize(p);
        }
    }

  private:
    void factorize(BlockRow p) noexcept {
        EntryMap const& entries = arrays_.entries;
        RowStorage<T> const &lower = arrays_.lower, &upper = arrays_.upper;
        PivotRule<T> const& pivots = arrays_.pivots;
        T const* const a = arrays_.a;
        T* const inverse = arrays_.inverse;
        Offset entry = entries.begin(p);
        Real<T> largest = 0;
        auto const take = [&](Offset e) {
            T const value = entries.value(a, e);
            largest = std::max(largest, abs1(value));
            return value;
        };
        T const diagonal = take(entry + lower.length(p)) * pivots.diagonal_factor;
        T pivot = diagonal;
        // l(k) = a(p, k) / u(k, k), and a(p, p) -= l(k) a(k, p).
        auto const eliminate = [&](BlockRow k, T& factor) {
            factor = times(take(entry), inverse[k]);
            pivot -= times(factor, a[entry++]);
        };
        visit_row(lower, p, eliminate);
        visit_row(upper, p, [&](BlockRow, T& value) { value = take(++entry); });
        inverse[p] = T(1) / accept(pivots, pivot, diagonal, pivots.bound(largest, diagonal));
    }

    /// Prefetches what later rows read of A, in two steps. Neighbors are often far from each other in A.
    void prefetch_later(BlockRow p) const {
        constexpr BlockRow rows_ahead = 16, sources_ahead = 64;
        EntryMap const& entries = arrays_.entries;
        T const* const a = arrays_.a;
        entries.prefetch_source(entries.begin(std::min(p + sources_ahead, last_)));
        BlockRow const later = std::min(p + rows_ahead, last_);
        Offset const first = entries.begin(later), end = entries.end(later);
        __builtin_prefetch(a + first);
        for (Offset e = first; e < end; ++e) entries.prefetch(a, e);
    }

    FactorArrays<T> arrays_;
    BlockRow last_;
};

} // namespace espalier
