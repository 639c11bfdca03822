#include "core/background.hpp"

#include <chrono>
#include <utility>

namespace espalier {

void Background::run(std::function<void()> work, Interrupt& interrupt) {
    wait(interrupt); // earlier work may go on after a cancellation
    work_ = std::async(std::launch::async, [work = std::move(work)]() mutable {
        std::exchange(work, {})(); // its data are released before the caller continues
    });
    wait(interrupt);
    work_.get();
}

void Background::wait(Interrupt& interrupt) const {
    while (work_.valid() && work_.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
        interrupt.check();
}

} // namespace espalier
