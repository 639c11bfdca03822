// The sum of the bytes of a location of pages, for tests that compare it with the size of the memory.
#pragma once

#include <cstdint>
#include <numeric>

#include "espalier/numa.hpp"

namespace espalier {

inline std::uint64_t total(PageLocation const& location) {
    return std::accumulate(location.node_bytes.begin(), location.node_bytes.end(), std::uint64_t{0}) +
           location.untouched_bytes + location.unknown_bytes;
}

} // namespace espalier
