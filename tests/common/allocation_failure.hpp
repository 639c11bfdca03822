// When an allocation fails in a program with failing_new.hpp.
#pragma once

#include <atomic>

namespace failing_new {

inline std::atomic<long> countdown{-1}; // allocations until failure; negative: never
inline std::atomic<bool> keeps_failing{false};
inline std::atomic<long> hits{0};     // allocations that failed
inline bool (*is_exempt)() = nullptr; // if set: whether the caller's allocations never fail
inline void (*on_failure)() = nullptr; // if set: called by the thread whose allocation fails

// Whether this allocation fails.
inline bool fails() noexcept {
    if (is_exempt && is_exempt()) return false;
    long left = countdown.load(std::memory_order_relaxed);
    while (left >= 0) {
        long const next = left > 0 ? left - 1 : (keeps_failing.load(std::memory_order_relaxed) ? 0 : -1);
        if (!countdown.compare_exchange_weak(left, next, std::memory_order_relaxed)) continue;
        if (left > 0) return false;
        hits.fetch_add(1, std::memory_order_relaxed);
        if (on_failure) on_failure();
        return true;
    }
    return false;
}

} // namespace failing_new
