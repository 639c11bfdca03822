// The atomic types of the lock-free code in this module. A test replaces them by types whose every operation
// is a step, and runs all interleavings of the steps.
#pragma once

#include <atomic>
#include <cstdint>

namespace espalier {

struct StandardAtomics {
    using Flag = std::atomic_flag;
    using Priority = std::atomic<double>;
    using Word = std::atomic<std::uint64_t>;
};

} // namespace espalier
