#include "matrix/pattern_fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "core/all_parts.hpp"
#include "core/mix_bits.hpp"

namespace espalier {

namespace {
// One multiplication and shift per number, as good as FNV.
void mix(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
}

// Mixes bits_of(number) of some numbers into the hash. Eight independent chains wait for memory, not for each
// other.
template <class Number, class Bits>
void mix_part(std::uint64_t& hash, std::span<Number const> numbers, Bits const& bits_of) {
    constexpr std::size_t chains = 8;
    std::uint64_t part[chains] = {1, 2, 3, 4, 5, 6, 7, 8};
    // The processor does not read ahead into the next page.
    constexpr std::size_t ahead = 4096 / sizeof(Number);
    std::size_t i = 0;
    for (; i + chains <= numbers.size(); i += chains) {
        __builtin_prefetch(numbers.data() + i + ahead);
        for (std::size_t c = 0; c < chains; ++c) mix(part[c], bits_of(numbers[i + c]));
    }
    for (; i < numbers.size(); ++i) mix(part[0], bits_of(numbers[i]));
    for (std::uint64_t const value : part) mix(hash, value);
}

// Mixes the hashes of parts of fixed length into the hash.
template <class Number, class Bits>
void mix_all(std::uint64_t& hash, std::vector<Number> const& numbers, Bits const& bits_of, int threads = 1) {
    constexpr std::size_t length = 1 << 16;
    std::span<Number const> const all = numbers;
    if (all.size() <= length) return mix_part(hash, all, bits_of);
    std::size_t const parts = (all.size() + length - 1) / length;
    auto const hash_of = [&](std::size_t part) {
        std::uint64_t value = 0;
        mix_part(value, all.subspan(part * length, std::min(length, all.size() - part * length)), bits_of);
        return value;
    };
    if (threads == 1) { // allocates nothing
        for (std::size_t part = 0; part < parts; ++part) mix(hash, hash_of(part));
        return;
    }
    std::vector<std::uint64_t> hashes(parts);
    all_parts(all.size(), threads, [&](std::size_t first, std::size_t end) {
        for (std::size_t part = (first + length - 1) / length; part * length < end; ++part)
            hashes[part] = hash_of(part);
        return true;
    });
    for (std::uint64_t const value : hashes) mix(hash, value);
}

Index num_blocks(Index columns) {
    return (columns + PatternFingerprint::block_columns - 1) / PatternFingerprint::block_columns;
}

// The hash of a block of columns: of their pointers, and of their row indices if the pointers are a range.
template <class T> std::uint64_t hash_of_block(CscMatrix<T> const& a, Index block) {
    constexpr Index length = PatternFingerprint::block_columns;
    auto const bits = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    Index const first = block * length, last = std::min(a.cols, first + length);
    std::span<Offset const> const pointers = std::span(a.col_ptr).subspan(first, last - first + 1);
    std::uint64_t hash = 0;
    mix_part(hash, pointers, bits);
    Offset const begin = pointers.front(), end = pointers.back();
    if (0 <= begin && begin <= end && end <= std::ssize(a.row_ind))
        mix_part(hash, std::span(a.row_ind).subspan(begin, end - begin), bits);
    return hash;
}

// A part of the blocks of a matrix that is worth a thread.
template <class T> std::size_t least_blocks(CscMatrix<T> const& a) {
    std::size_t const numbers = 1 + a.col_ptr.size() + a.row_ind.size();
    return 1 + 200'000 * static_cast<std::size_t>(num_blocks(a.cols)) / numbers;
}
} // namespace

template <class T> PatternFingerprint::PatternFingerprint(CscMatrix<T> const& a, int threads)
    : rows_(a.rows), cols_(a.cols), stored_(a.row_ind.size()), symmetry_(a.symmetry) {
    if (std::ssize(a.col_ptr) != a.cols + 1) return; // an invalid matrix
    blocks_.resize(num_blocks(cols_));
    auto const hash_blocks = [&](std::size_t first, std::size_t end) {
        for (std::size_t block = first; block < end; ++block)
            blocks_[block] = hash_of_block(a, static_cast<Index>(block));
        return true;
    };
    all_parts(blocks_.size(), threads, hash_blocks, least_blocks(a));
}

template <class T> bool PatternFingerprint::has_sizes_of(CscMatrix<T> const& a) const {
    return rows_ == a.rows && cols_ == a.cols && stored_ == a.row_ind.size() && symmetry_ == a.symmetry &&
           std::ssize(a.col_ptr) == a.cols + 1 && a.stored() == std::ssize(a.row_ind);
}

template <class T> bool PatternFingerprint::has_block(CscMatrix<T> const& a, Index block) const {
    return hash_of_block(a, block) == blocks_[block];
}

template <class T> bool PatternFingerprint::matches(CscMatrix<T> const& a, int threads) const {
    auto const has_blocks = [&](std::size_t first, std::size_t end) {
        for (std::size_t block = first; block < end; ++block)
            if (!has_block(a, static_cast<Index>(block))) return false;
        return true;
    };
    return has_sizes_of(a) && all_parts(blocks_.size(), threads, has_blocks, least_blocks(a));
}

template <class T> std::uint64_t hash_of_values(CscMatrix<T> const& a, int threads) {
    std::uint64_t hash = 0;
    auto const bits = [](Real<T> number) {
        return std::bit_cast<std::uint64_t>(static_cast<double>(number));
    };
    mix_all(
        hash, a.values,
        [&](T const& value) {
            std::uint64_t const real = bits(real_part(value));
            // Without mix_bits(), equal changes of both parts would cancel: those of -z, or of z times a
            // power of two.
            if constexpr (is_complex<T>) return mix_bits(real) ^ bits(imag_part(value));
            return real;
        },
        threads);
    return hash;
}

ESPALIER_INSTANTIATE_FUNCTION(hash_of_values)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template PatternFingerprint::PatternFingerprint(CscMatrix<T> const&, int);                               \
    template bool PatternFingerprint::matches(CscMatrix<T> const&, int) const;                               \
    template bool PatternFingerprint::has_sizes_of(CscMatrix<T> const&) const;                               \
    template bool PatternFingerprint::has_block(CscMatrix<T> const&, Index) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
