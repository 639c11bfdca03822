// EntryMap states where each entry of a matrix is stored in the rows of its incomplete factor.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "incomplete/execution_order.hpp"
#include "runtime/memory.hpp"

namespace espalier {

/// A matrix whose entries are mapped.
struct MappedMatrix {
    StoredPattern const& a;
    bool is_complex; ///< Entries of the other triangle of a Hermitian matrix must be conjugated.
    int block_size;
    BlockColumns const* whole_blocks; ///< Its whole_blocks(), or null.
    std::span<Index const> positions; ///< The positions that block_pattern() found.
};

/// The parts of A that belong to each row of the factor, by position. A part is a whole block if all blocks
/// of A are whole, and one value otherwise. If A is a stored triangle of scalars, the parts are only the
/// values of U and of the diagonal (symmetric_rows.hpp); if its rows also keep their numbers, these are a
/// column of A, and there are no parts.
class EntryMap {
  public:
    EntryMap() = default;

    /// `pattern` is that of the factor; `is_pattern_of_a`: it has no fill; `wants_mirrors`: the map is to
    /// have mirrors if the pattern has sources. The map refers to the order.
    static EntryMap make(MappedMatrix const& matrix, ExecutionOrder const& order, RowPattern pattern,
                         bool is_pattern_of_a, bool wants_mirrors, int threads);

    /// The first part of the row at position p. Its last part is end(p) - 1.
    [[nodiscard]] Offset begin(BlockRow position) const { return ptr_[index(position)]; }
    [[nodiscard]] Offset end(BlockRow position) const { return ptr_[index(position) + 1]; }
    /// Whether parts are numbered like the entries of A, which has a symmetric pattern: if entry e of A is
    /// (j, i), part e is the entry (i, j). Such a map is_in_order(). Other maps number the parts by the
    /// positions of their rows.
    [[nodiscard]] bool has_mirrors() const { return !mirrors_.empty(); }
    /// Whether the values of each row are all those of its blocks, in the order of the row in the pattern,
    /// and column-major in each block. Then column() and in_block() are not known.
    [[nodiscard]] bool is_in_order() const { return in_order_; }
    /// Whether the values of U and of the diagonal in row i of the factor are column i of A.
    [[nodiscard]] bool has_columns() const { return has_columns_; }
    /// If has_columns() and the factor has fill: bit e is set if entry e of a row of U is in A, and then the
    /// column of A has the diagonal entry and these entries in the same order. 0 if this is not known.
    [[nodiscard]] std::uint32_t given(BlockRow position) const {
        return given_.empty() ? 0 : given_[position];
    }
    /// The position of the block column of a part, and the entry of the block where it begins.
    [[nodiscard]] BlockRow column(Offset part) const { return column_[part]; }
    [[nodiscard]] int in_block(Offset part) const { return in_block_.empty() ? 0 : in_block_[part]; }

    /// Prefetches the value of a part.
    template <class T> [[gnu::always_inline]] inline void prefetch(T const* a, Offset part) const {
        __builtin_prefetch(a + stored<T>(source_of(part)));
    }
    /// Prefetches the value of a later part, because values are far from each other in A.
    template <class T> [[gnu::always_inline]] inline void prefetch_later(T const* a, Offset part) const {
        prefetch(a, part + ahead);
    }
    /// Prefetches what value() and prefetch() read of a part, and of the few parts behind it.
    [[gnu::always_inline]] inline void prefetch_source(Offset part) const {
        __builtin_prefetch(&narrow_[part]);
        __builtin_prefetch(&narrow_[part] + few);
    }
    /// Returns the value of a part that is one.
    template <class T> [[nodiscard]] T value(T const* a, Offset part) const {
        Offset const source = source_of(part);
        if constexpr (is_complex<T>)
            return source >= 0 ? a[source] : conj(a[~source]);
        else
            return a[source];
    }
    /// Copies a part to its place in a block of B x B values, column-major. Raises largest[i] to the modulus
    /// of its values in row i of a whole block.
    template <int B, class T> void copy(T const* a, Offset part, T* to, Real<T>* largest) const {
        auto const put = [&](T entry, T& place, Real<T>& modulus) {
            place = entry;
            modulus = std::max(modulus, abs1(entry));
        };
        if (!whole_blocks_) {
            prefetch_later(a, part);
            return put(value(a, part), *to, largest[0]);
        }
        T const *column = a + source_of(part), *later = a + source_of(part + blocks_ahead);
        std::int32_t const distance = column_distance_[part],
                           later_distance = column_distance_[part + blocks_ahead];
        Real<T> moduli[B]; // in registers, unlike `largest`
        std::copy_n(largest, B, moduli);
        for (int j = 0; j < B; ++j, column += distance, later += later_distance) {
            __builtin_prefetch(later);
            __builtin_prefetch(later + (B - 1)); // it may be in the next line of the cache
            for (int i = 0; i < B; ++i) put(column[i], to[i + j * B], moduli[i]);
        }
        std::copy_n(moduli, B, largest);
    }

    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t sum = ptr_.size() * sizeof(Offset) + given_.size() * sizeof(std::uint32_t) +
                            mirrors_.size() * sizeof(std::int32_t);
        for (auto const& memory : memory_) sum += memory.size();
        return sum;
    }

  private:
    /// The numbers of parts by which prefetches run ahead.
    static constexpr Offset ahead = 512, blocks_ahead = 128;
    /// prefetch_source() covers this many parts, which often are in two lines of the cache.
    static constexpr Offset few = 6;

    /// Returns the index in ptr_ of the row at a position.
    [[nodiscard]] BlockRow index(BlockRow position) const {
        return has_mirrors() ? row_at_[position] : position;
    }
    [[nodiscard]] Offset source_of(Offset part) const { return is_narrow_ ? narrow_[part] : wide_[part]; }
    template <class T> static Offset stored(Offset source) {
        return is_complex<T> && source < 0 ? ~source : source;
    }
    void allocate();
    void set_source(Offset part, Offset source) {
        if (is_narrow_)
            narrow_[part] = static_cast<std::int32_t>(source);
        else
            wide_[part] = source;
    }
    template <class VisitParts, class SetDetail>
    void map_parts(ExecutionOrder const& order, RowPattern const& pattern, int threads,
                   VisitParts const& visit_parts, SetDetail const& set_detail);
    void take_sources(ExecutionOrder const& order, RowPattern const& pattern, int threads);
    void find_given(StoredPattern const& a, ExecutionOrder const& order, RowPattern const& pattern,
                    int threads);

    bool has_columns_ = false, in_order_ = false, is_narrow_ = true, whole_blocks_ = false,
         has_blocks_ = false;
    LargeVector<Offset> ptr_{0}; ///< By row of A if there are mirrors, by position otherwise.
    BlockRow const* row_at_ = nullptr;
    LargeVector<std::int32_t> mirrors_;
    LargeVector<std::uint32_t> given_;
    /// The position in A of the first value of each part, or its complement if the value must be conjugated.
    /// Zeros follow the last one. Positions have 32 bits if A is small enough.
    std::span<Offset> wide_;
    std::span<std::int32_t> narrow_;
    std::span<BlockRow> column_;
    std::span<std::uint8_t> in_block_; ///< The place of each value in its block.
    /// In A, from a column of a whole block to the next one. Zeros follow.
    std::span<std::int32_t> column_distance_;
    std::array<Arena, 3> memory_;
};

} // namespace espalier
