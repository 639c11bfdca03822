// The parity of a permutation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

/// Whether a permutation of 0 .. n - 1 is odd: if it has c cycles, whether n - c is odd.
inline bool is_odd(std::span<std::int32_t const> permutation) {
    std::vector<bool> seen(permutation.size(), false);
    bool odd = false;
    for (std::int32_t start = 0; start < std::ssize(permutation); ++start) {
        if (seen[start]) continue;
        seen[start] = true;
        for (std::int32_t i = permutation[start]; i != start; i = permutation[i]) {
            seen[i] = true;
            odd = !odd;
        }
    }
    return odd;
}

} // namespace espalier
