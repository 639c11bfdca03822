#include "core/interrupt.hpp"

namespace espalier {

namespace {
constexpr auto asking_interval = std::chrono::milliseconds(10);
}

bool Interrupt::requested() {
    if (requested_.load(std::memory_order_relaxed)) return true;
    if (!asked_ || std::this_thread::get_id() != asker_) return false;
    auto const now = Clock::now();
    if (now - last_asked_ < asking_interval) return false;
    last_asked_ = now;
    if (!asked_()) return false;
    request();
    return true;
}

void Interrupt::check() {
    if (requested()) throw Error(Status::cancelled, "cancelled by the caller");
}

} // namespace espalier
