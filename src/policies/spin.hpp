// Short busy waiting before an idle thread sleeps.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace espalier {

/// How long to spin, and whether to yield in between: if workers are not bound, the thread that spins may
/// occupy the core of the thread that it waits for.
struct Spin {
    std::chrono::steady_clock::duration time{};
    bool yields = false;
};

/// A hint to the processor that the thread spins.
inline void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Calls done() at growing intervals until it returns true or the time is over. Returns its last result.
template <class Done> bool spin_until(Spin const& spin, Done done) {
    auto const deadline = std::chrono::steady_clock::now() + spin.time;
    for (int pauses = 1; !done(); pauses = std::min(2 * pauses, 16)) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        for (int i = 0; i < pauses; ++i) relax_processor();
        if (spin.yields && pauses == 16) std::this_thread::yield();
    }
    return true;
}

} // namespace espalier
