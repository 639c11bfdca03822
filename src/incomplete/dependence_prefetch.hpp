// Prefetches for the factorization of rows. A row reads rows of U whose places in memory only its columns
// tell, so the processor does not prefetch them, above all in the short chunks of several workers.
#pragma once

#include "incomplete/row_storage.hpp"

namespace espalier {

/// Prefetches what rows of B x B blocks read of the rows that they depend on. Short rows of scalars do
/// without, because prefetches would take longer than they save. All functions are inlined, because GCC
/// removes calls of functions that only prefetch.
template <class T, int B> class DependencePrefetch {
  public:
    DependencePrefetch(RowStorage<T> const& lower, RowStorage<T> const& upper, T const* inverse)
        : lower_(lower), upper_(upper), inverse_(inverse),
          end_(B > 1 || lower.num_blocks() >= long_row * lower.num_rows() ? lower.num_rows() : 0) {}

    /// Whether before() prefetches.
    [[nodiscard]] bool is_active() const { return end_ > 0; }
    /// Called before the factorization of the row with this number in the order of the factorization;
    /// position_of(number) is its position. The place of a row of U must be in the cache before its blocks
    /// can be prefetched, so there are two steps.
    template <class PositionOf>
    [[gnu::always_inline]] inline void before(BlockRow number, PositionOf const& position_of) const {
        auto const visit_later = [&](BlockRow later, auto const& visit) __attribute__((always_inline)) {
            if (later < end_) visit_dependences(position_of(later), visit);
        };
        visit_later(
            number + 2 * rows_ahead, [&](BlockRow k) __attribute__((always_inline)) {
                upper_.prefetch_place(k);
                prefetch<block_bytes>(inverse_ + Index(k) * block_entries);
            });
        visit_later(
            number + rows_ahead, [&](BlockRow k) __attribute__((always_inline)) {
                Offset const begin = upper_.begin(k);
                prefetch<blocks * sizeof(BlockRow)>(upper_.columns() + begin);
                prefetch<blocks * block_bytes>(upper_.values() + begin * block_entries);
            });
    }
    /// The rows are factorized in the order of their positions.
    [[gnu::always_inline]] inline void before(BlockRow p) const {
        before(p, [](BlockRow later) { return later; });
    }

  private:
    static constexpr BlockRow rows_ahead = 4;
    static constexpr Index block_entries = Index(B) * B;
    static constexpr Index block_bytes = block_entries * static_cast<Index>(sizeof(T));
    /// Prefetched blocks of each row of U. The processor itself prefetches the rest of long rows.
    static constexpr Index blocks = B > 1 ? 3 : 12;

    template <class Visit>
    [[gnu::always_inline]] inline void visit_dependences(BlockRow p, Visit const& visit) const {
        BlockRow const* column = lower_.columns() + lower_.begin(p);
        std::int32_t const length = lower_.length(p), stride = lower_.stride(p);
        for (std::int32_t e = 0; e < length; ++e, column += stride) visit(*column);
    }
    template <Index Bytes> [[gnu::always_inline]] static inline void prefetch(void const* data) {
        constexpr Index line = 64;
        auto const* const first = static_cast<char const*>(data);
        for (Index k = 0; k < Bytes; k += line) __builtin_prefetch(first + k);
    }

    RowStorage<T> const& lower_;
    RowStorage<T> const& upper_;
    T const* inverse_;
    BlockRow end_; ///< The rows before this one prefetch.
};

} // namespace espalier
