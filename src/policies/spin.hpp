// How an idle thread looks for work for a short time before it sleeps.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace espalier {

/// For how long, and whether the processor is offered to other threads meanwhile: where workers are not
/// bound, the one that spins may stand on the core of the one that it waits for.
struct Spin {
    std::chrono::steady_clock::duration time{};
    bool yields = false;
};

/// Tells the processor that the thread is only looking.
inline void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Calls done() at growing intervals until it holds or the time is over; what it said last.
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
