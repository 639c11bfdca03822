// EntryMap states where each entry of a matrix is stored in the rows of its incomplete factor.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "incomplete/execution_order.hpp"
#include "runtime/memory.hpp"

namespace espalier {

/// The values of A that belong to each row of the factor, by position, as strips: pieces of a column of A inside one
/// block. A strip has B values if all columns of a general matrix consist of such pieces, and 1 otherwise.
class EntryMap {
  public:
    EntryMap() = default;

    /// `positions` is that of block_pattern(). `is_complex`: entries of the other triangle of a Hermitian
    /// matrix must be conjugated. `is_pattern_of_a`: the factor has the pattern of A, without fill.
    static EntryMap make(StoredPattern const& a, bool is_complex, int block_size, std::span<Index const> positions,
                         ExecutionOrder const& order, Offset blocks_of_factor, bool is_pattern_of_a, int threads);

    /// The strips begin(p) .. begin(p + 1) - 1 belong to the row at position p.
    [[nodiscard]] Offset begin(BlockRow position) const { return ptr_[position]; }
    [[nodiscard]] int strip() const { return strip_; }
    /// Whether the values of each row are all those of its blocks, in the order of the row in the pattern, and
    /// column-major in each block. Then column() and in_block() are not known.
    [[nodiscard]] bool is_in_order() const { return in_order_; }
    /// The position of the block column of a strip, and the entry of the block where it begins.
    [[nodiscard]] BlockRow column(Offset strip) const { return column_[strip]; }
    [[nodiscard]] int in_block(Offset strip) const { return in_block_.empty() ? 0 : in_block_[strip]; }

    /// Returns the first value of a strip, whose other values follow. Prefetches a later strip, because
    /// strips are far from each other in A.
    template <class T> [[nodiscard]] T value(T const* a, Offset strip) const {
        __builtin_prefetch(a + stored<T>(source_of(strip + ahead)));
        Offset const source = source_of(strip);
        if constexpr (is_complex<T>)
            return source >= 0 ? a[source] : conj(a[~source]);
        else
            return a[source];
    }
    /// Copies a strip. Raises largest[i] to the modulus of its value i.
    template <int B, class T> void copy(T const* a, Offset strip, T* to, Real<T>* largest) const {
        auto const put = [&](int i, T entry) {
            to[i] = entry;
            largest[i] = std::max(largest[i], abs1(entry));
        };
        put(0, value(a, strip));
        if (strip_ == B)
            for (int i = 1; i < B; ++i) put(i, a[source_of(strip) + i]);
    }

    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t sum = ptr_.size() * sizeof(Offset);
        for (auto const& memory : memory_) sum += memory.size();
        return sum;
    }

  private:
    static constexpr Offset ahead = 512; ///< The number of strips by which prefetches run ahead.

    [[nodiscard]] Offset source_of(Offset strip) const { return narrow_.empty() ? wide_[strip] : narrow_[strip]; }
    template <class T> static Offset stored(Offset source) { return is_complex<T> && source < 0 ? ~source : source; }
    void allocate(Offset stored, bool of_blocks);
    void set_source(Offset strip, Offset source) {
        if (narrow_.empty())
            wide_[strip] = source;
        else
            narrow_[strip] = static_cast<std::int32_t>(source);
    }

    int strip_ = 1;
    bool in_order_ = false;
    LargeVector<Offset> ptr_{0};
    /// The position in A of the first value of each strip, or its complement if the value must be conjugated.
    /// Zeros follow the last one. Positions have 32 bits if A is small enough.
    std::span<Offset> wide_;
    std::span<std::int32_t> narrow_;
    std::span<BlockRow> column_;
    std::span<std::uint8_t> in_block_;
    std::array<Arena, 3> memory_;
};

} // namespace espalier
