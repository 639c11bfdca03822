#include "trace/clock.hpp"

#include <cmath>
#include <fstream>
#include <string>

namespace espalier::trace {

bool counter_is_steady() {
#if defined(__x86_64__)
    // CPUID leaf 0x80000007, EDX bit 8: the counter runs at a constant rate in all power states.
    unsigned a = 0x80000000u, b = 0, c = 0, d = 0;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (a < 0x80000007u) return false;
    a = 0x80000007u, c = 0;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if ((d >> 8 & 1u) == 0) return false;
    // Linux uses these sources only while the counters of all cores are synchronous.
    std::string source;
    std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
    return source == "tsc" || source == "kvm-clock" || source == "hyperv_clocksource_tsc_page";
#else
    return false;
#endif
}

// The tightest of several tries, during which the thread was most likely not interrupted.
ClockReading ClockReading::take() noexcept {
    ClockReading best;
    Nanoseconds tightest = 0;
    for (int i = 0; i < 16; ++i) {
        Nanoseconds const before = steady_now();
        Ticks const count = trace::ticks();
        Nanoseconds const after = steady_now();
        if (i > 0 && after - before >= tightest) continue;
        tightest = after - before;
        best = {count, before + tightest / 2};
    }
    return best;
}

ClockConversion::ClockConversion(ClockReading first, ClockReading last) noexcept
    : first_(first), nanoseconds_per_tick_(last.ticks > first.ticks
                                               ? static_cast<double>(last.nanoseconds - first.nanoseconds) /
                                                     static_cast<double>(last.ticks - first.ticks)
                                               : 1.0) {}

Nanoseconds ClockConversion::operator()(Ticks ticks) const noexcept {
    auto const since = static_cast<std::int64_t>(ticks - first_.ticks);
    return first_.nanoseconds + std::llround(static_cast<double>(since) * nanoseconds_per_tick_);
}

} // namespace espalier::trace
