// Why a run ends early, as one rank knows it: by an error of its own, or because another rank said that it
// failed. Whichever came first stands: what fails here after another's notice is a consequence, not a cause.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "espalier/types.hpp"

namespace espalier {

class RunFailure {
  public:
    /// An error of this rank; true when it is the first one known here. Any thread.
    bool here(Error const& error) {
        std::lock_guard const lock(mutex_);
        if (failed()) return false;
        own_ = error;
        failed_.store(true, std::memory_order_release);
        return true;
    }
    /// Another rank has failed; true when that is the first error known here. Any thread.
    bool elsewhere() {
        std::lock_guard const lock(mutex_);
        if (failed()) return false;
        failed_.store(true, std::memory_order_release);
        return true;
    }
    [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
    /// The error with which this rank failed by itself.
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
