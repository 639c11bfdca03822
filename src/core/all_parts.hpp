// A test of all elements of an array, which threads share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/run_threads.hpp"

namespace espalier {

/// Whether is_good(first, end) holds for consecutive parts of [0, count), which up to `threads` threads
/// check. A thread gets at least `least_part` elements, which should take longer than starting it.
template <class Check>
bool all_parts(std::size_t count, int threads, Check const& is_good, std::size_t least_part = 200'000) {
    auto const parts = static_cast<int>(std::clamp<std::size_t>(count / least_part, 1, threads));
    if (parts == 1) return is_good(0, count);
    std::vector<std::uint8_t> good(parts);
    run_threads(parts,
                [&](int part) { good[part] = is_good(count * part / parts, count * (part + 1) / parts); });
    return std::ranges::count(good, 0) == 0;
}

} // namespace espalier
