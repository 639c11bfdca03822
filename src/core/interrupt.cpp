#include "core/interrupt.hpp"

namespace espalier {

namespace {
constexpr auto callback_interval = std::chrono::milliseconds(10);
}

bool Interrupt::requested() {
    if (requested_.load(std::memory_order_relaxed)) return true;
    if (!callback_ || std::this_thread::get_id() != callback_thread_) return false;
    auto const now = Clock::now();
    if (now - last_call_ < callback_interval) return false;
    last_call_ = now;
    if (!callback_()) return false;
    request();
    return true;
}

void Interrupt::check() {
    if (requested()) throw Error(Status::cancelled, "cancelled by the caller");
}

} // namespace espalier
