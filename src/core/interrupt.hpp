// A caller's wish to stop, seen by everything that works for him. Worker threads look at a flag; the thread
// that made the interrupt also asks the caller's function, at most every 10 ms.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "espalier/types.hpp"

namespace espalier {

class Interrupt {
  public:
    /// `asked` is called on the thread that constructs the interrupt; it may be empty.
    explicit Interrupt(std::function<bool()> asked = {})
        : asked_(std::move(asked)), asker_(std::this_thread::get_id()) {}
    Interrupt(Interrupt const&) = delete;
    Interrupt& operator=(Interrupt const&) = delete;

    /// From now on everyone is to stop. Any thread.
    void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
    /// Any thread. What the caller's function throws comes out on its own thread.
    [[nodiscard]] bool requested();
    /// Error{cancelled} when requested. Cheap enough for every millisecond of work, not for every entry.
    void check();
    /// Set as soon as any thread has learnt of it.
    [[nodiscard]] std::atomic<bool> const& flag() const noexcept { return requested_; }

  private:
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> requested_{false};
    std::function<bool()> asked_;
    std::thread::id asker_;
    Clock::time_point last_asked_; // of the asking thread
};

/// check() of an interrupt that may be absent.
inline void check(Interrupt* interrupt) {
    if (interrupt) interrupt->check();
}

} // namespace espalier
