#include "core/background.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace espalier {

void Background::run(std::function<void()> work, Interrupt& interrupt) {
    wait(interrupt); // earlier work may go on after a cancellation
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
            work = {}; // releases the data of the work before the caller continues
            {
                std::lock_guard const lock(mutex_);
                done_ = true;
            }
            ended_.notify_all();
        });
    } catch (...) {
        done_ = true; // the thread was not started
        throw;
    }
}

// Waits until the work is done. The lock is released for interrupt.check(), which calls the caller's code.
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
