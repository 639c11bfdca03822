#include "core/background.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace espalier {

void Background::run(std::function<void()> work, Interrupt& interrupt) {
    join();
    done_ = false;
    exception_ = nullptr;
    thread_ = std::thread([this, work = std::move(work)]() mutable {
        try {
            work();
        } catch (...) {
            exception_ = std::current_exception();
        }
        work = {}; // what it owns goes before the caller hears of the end
        {
            std::lock_guard const lock(mutex_);
            done_ = true;
        }
        ended_.notify_all();
    });
    for (std::unique_lock lock(mutex_);
         !ended_.wait_for(lock, std::chrono::milliseconds(10), [this] { return done_; });) {
        lock.unlock();
        interrupt.check();
        lock.lock();
    }
    join();
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

void Background::join() {
    if (thread_.joinable()) thread_.join();
}

} // namespace espalier
