#include "core/background.hpp"

#include <chrono>
#include <utility>

#include "core/error.hpp"

namespace espalier {

void Background::run(std::function<void()> work, Interrupt& interrupt) {
    wait(interrupt); // earlier work may go on after a cancellation
    try {
        work_ = std::async(std::launch::async, [work = std::move(work)]() mutable {
            std::exchange(work, {})(); // its data are released before the caller continues
        });
    } catch (...) {
        throw thread_error("a thread in the background");
    }
    wait(interrupt);
    work_.get();
}

void Background::wait(Interrupt& interrupt) const {
    while (work_.valid() && work_.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
        interrupt.check();
}

} // namespace espalier
