// The reason why a run ends early, as known to one rank: its own error, or the notice of another rank. The
// first one is kept, because errors after a notice are its consequences.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "espalier/types.hpp"

namespace espalier {

class RunFailure {
  public:
    /// Records an error of this rank. Returns true if it is the first known failure. Any thread may call it.
    bool record_own(Error const& error) {
        std::lock_guard const lock(mutex_);
        if (failed()) return false;
        own_ = error;
        failed_.store(true, std::memory_order_release);
        return true;
    }
    /// Records the failure of another rank. Returns true if it is the first known failure. Any thread may
    /// call it.
    bool record_notice() {
        std::lock_guard const lock(mutex_);
        if (failed()) return false;
        failed_.store(true, std::memory_order_release);
        return true;
    }
    [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
    /// The error of this rank, unless another one failed first.
    [[nodiscard]] std::optional<Error> own() const {
        std::lock_guard const lock(mutex_);
        return own_;
    }

  private:
    std::atomic<bool> failed_{false};
    mutable std::mutex mutex_;
    std::optional<Error> own_;
};

} // namespace espalier
