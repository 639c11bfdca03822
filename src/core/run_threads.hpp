// A parallel loop for the readers, which run before the runtime exists: body(0) .. body(count - 1), each on
// its own thread; the calling thread runs body(0).
#pragma once

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace espalier {

/// The number of threads to use for the requested `threads`: values below 1 mean all cores of the process;
/// the result is at most 64.
inline int team_size(int threads) {
    if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(threads, 1, 64);
}

/// Runs body(t) for t in [0, count) and waits for all calls. If several throw, the exception of the smallest
/// t is rethrown, so the outcome does not depend on timing. If the system cannot start all threads, the
/// calling thread runs the remaining calls.
template <class Body> void run_threads(int count, Body const& body) {
    if (count <= 0) return;
    std::vector<std::exception_ptr> errors(count);
    auto const guarded = [&](int t) noexcept {
        try {
            body(t);
        } catch (...) {
            errors[t] = std::current_exception();
        }
    };
    std::vector<std::thread> team;
    team.reserve(count);
    int next = 1;
    try {
        for (; next < count; ++next) team.emplace_back(guarded, next);
    } catch (std::exception const&) {
        // Too many threads, or no memory for one: the calling thread runs the remaining calls below.
    }
    guarded(0);
    for (; next < count; ++next) guarded(next);
    for (auto& thread : team) thread.join();
    for (auto const& error : errors)
        if (error) std::rethrow_exception(error);
}

} // namespace espalier
