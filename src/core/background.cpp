#include "core/background.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace espalier {

void Background::run(std::function<void()> work, Interrupt& interrupt) {
    wait(interrupt); // for what an earlier cancellation left running
    join();
    exception_ = nullptr;
    start(std::move(work));
    wait(interrupt);
    join();
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

void Background::start(std::function<void()> work) {
    done_ = false;
    try {
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
    } catch (...) {
        done_ = true; // there is no thread
        throw;
    }
}

// Until the thread has done its work. The interrupt is asked without the lock: it calls the caller's code.
void Background::wait(Interrupt& interrupt) {
    for (std::unique_lock lock(mutex_);
         !ended_.wait_for(lock, std::chrono::milliseconds(10), [this] { return done_; });) {
        lock.unlock();
        interrupt.check();
        lock.lock();
    }
}

void Background::join() {
    if (thread_.joinable()) thread_.join();
}

} // namespace espalier
