// When an allocation fails in a program with failing_new.hpp.
#pragma once

#include <atomic>

#include "common/failure_countdown.hpp"

namespace failing_new {

inline std::atomic<long> countdown{-1}; // allocations until failure; negative: never
inline std::atomic<bool> keeps_failing{false};
inline std::atomic<long> hits{0};      // allocations that failed
inline bool (*is_exempt)() = nullptr;  // if set: whether the caller's allocations never fail
inline void (*on_failure)() = nullptr; // if set: called by the thread whose allocation fails

// Whether this allocation fails.
inline bool fails() noexcept {
    if (is_exempt && is_exempt()) return false;
    if (!reaches_failure(countdown, keeps_failing)) return false;
    hits.fetch_add(1, std::memory_order_relaxed);
    if (on_failure) on_failure();
    return true;
}

} // namespace failing_new
