// Cancellation of a running computation. Worker threads check a flag; the thread that constructed the
// interrupt also calls the caller's cancel function, at most every 10 ms.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "espalier/types.hpp"

namespace espalier {

/// A request to stop, shared by all threads of a computation.
class Interrupt {
  public:
    /// `callback` returns true to cancel. It is called only on the constructing thread, and may be empty.
    explicit Interrupt(std::function<bool()> callback = {})
        : callback_(std::move(callback)), callback_thread_(std::this_thread::get_id()) {}
    Interrupt(Interrupt const&) = delete;
    Interrupt& operator=(Interrupt const&) = delete;

    /// Begins another computation on the calling thread, while no other thread uses this.
    void restart(std::function<bool()> callback) {
        callback_ = std::move(callback);
        callback_thread_ = std::this_thread::get_id();
        last_call_ = {};
        requested_.store(false, std::memory_order_relaxed);
    }

    /// Requests a stop. Any thread may call it.
    void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
    /// Whether a stop is requested. Any thread may call it; an exception of the callback passes through.
    [[nodiscard]] bool requested() {
        if (requested_.load(std::memory_order_relaxed)) return true;
        if (!callback_ || std::this_thread::get_id() != callback_thread_) return false;
        auto const now = Clock::now();
        if (now - last_call_ < std::chrono::milliseconds(10)) return false;
        last_call_ = now;
        if (!callback_()) return false;
        request();
        return true;
    }
    /// Throws Error{cancelled} if a stop is requested. Cheap enough to call once per millisecond of work, but
    /// not once per entry.
    void check() {
        if (requested()) throw Error(Status::cancelled, "cancelled by the caller");
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> requested_{false};
    std::function<bool()> callback_;
    std::thread::id callback_thread_;
    Clock::time_point last_call_; // used by callback_thread_ only
};

inline void check(Interrupt* interrupt) {
    if (interrupt) interrupt->check();
}

} // namespace espalier
