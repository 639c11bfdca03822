#include "core/run_threads.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace espalier {

int team_size(int threads) {
    if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(threads, 1, 64);
}

void run_threads(int count, std::function<void(int)> const& body) {
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
