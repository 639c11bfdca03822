// The time as threads read it a hundred million times a run: the processor's counter where it is steady and
// the same on all cores, else the system's steady clock. Counts become nanoseconds later, by two readings of
// both clocks, one at each end of the run.
#pragma once

#include <chrono>
#include <cstdint>

#include "trace/trace.hpp"

namespace espalier::trace {

using Ticks = std::uint64_t;

/// Nanoseconds of the steady clock.
inline Nanoseconds steady_now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Whether the processor's counter may serve: it runs at one speed whatever the core does, and the system
/// itself tells the time by it.
bool counter_is_steady();

inline bool const use_counter = counter_is_steady();

/// The time now; 7 ns by the counter, 25 ns by the system's clock.
inline Ticks ticks() noexcept {
#if defined(__x86_64__)
    if (use_counter) return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count)); // One speed and synchronous by architecture.
    return count;
#endif
    return static_cast<Ticks>(steady_now());
}

/// Both clocks at the same moment.
struct ClockReading {
    Ticks ticks = 0;
    Nanoseconds nanoseconds = 0;
    static ClockReading take() noexcept;
};

/// From ticks to nanoseconds of the steady clock: the line through two readings.
class ClockConversion {
  public:
    ClockConversion(ClockReading first, ClockReading last) noexcept;
    [[nodiscard]] Nanoseconds operator()(Ticks ticks) const noexcept;

  private:
    ClockReading first_;
    double nanoseconds_per_tick_;
};

} // namespace espalier::trace
