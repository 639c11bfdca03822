// What lock-free code of this room is built from. A test puts atomics in its place whose every operation is a
// step of its own, and goes through all interleavings of the steps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace espalier {

struct StandardAtomics {
    using Flag = std::atomic_flag;
    using Size = std::atomic<std::size_t>;
    using Word = std::atomic<std::uint64_t>;
};

} // namespace espalier
