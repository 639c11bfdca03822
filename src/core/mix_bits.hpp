// Bit mixing for hashes and seeds, identical on every platform.
#pragma once

#include <cstdint>

namespace espalier {

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014), a bijection on 64-bit integers.
inline std::uint64_t mix_bits(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// The increment of the splitmix64 state, 2^64 divided by the golden ratio.
inline constexpr std::uint64_t golden_increment = 0x9e3779b97f4a7c15u;

/// The first number of the splitmix64 sequence with seed x; a hash for small integers, including 0.
inline std::uint64_t hash_bits(std::uint64_t x) {
    return mix_bits(x + golden_increment);
}

} // namespace espalier
