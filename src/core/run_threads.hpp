// A team of threads for one loop: body(0) .. body(count - 1), each on its own thread, and the calling
// thread takes the first. For the readers, which work before any runtime exists.
#pragma once

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace espalier {

/// `threads` as a caller gave it: 0 and below mean the cores this process may use; never more than 64.
inline int team_size(int threads) {
    if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(threads, 1, 64);
}

/// Run body(t) for t in [0, count) and wait for all. When several throw, the exception of the smallest t is
/// rethrown, so that the outcome does not depend on timing. Threads that the system refuses to start are
/// made up for by the caller.
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
    } catch (std::system_error const&) {
        // The remaining indices are done below.
    }
    guarded(0);
    for (; next < count; ++next) guarded(next);
    for (auto& thread : team) thread.join();
    for (auto const& error : errors)
        if (error) std::rethrow_exception(error);
}

} // namespace espalier
