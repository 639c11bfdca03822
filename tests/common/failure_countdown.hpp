// Chooses the call that fails in a test: allocations (allocation_failure.hpp) and starts of threads
// (failing_threads.hpp).
#pragma once

#include <atomic>

/// Counts one call. Returns whether it is the one that fails: the first one after `countdown` calls, and if
/// `keeps_failing` all later ones. No call fails while `countdown` is negative. Several threads may call it.
inline bool reaches_failure(std::atomic<long>& countdown, std::atomic<bool> const& keeps_failing) noexcept {
    long left = countdown.load(std::memory_order_relaxed);
    while (left >= 0) {
        long const next = left > 0 ? left - 1 : (keeps_failing.load(std::memory_order_relaxed) ? 0 : -1);
        if (countdown.compare_exchange_weak(left, next, std::memory_order_relaxed)) return left == 0;
    }
    return false;
}
