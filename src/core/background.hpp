// Runs work that cannot be interrupted on a separate thread, so that a cancelling caller regains control at
// once. The thread then finishes alone; it is joined before the next work starts, or by the destructor.
#pragma once

#include <functional>
#include <future>

#include "core/interrupt.hpp"

namespace espalier {

/// A thread that runs one piece of work at a time.
class Background {
  public:
    /// Waits for earlier work, runs `work` to its end and rethrows its exception. Throws Error{cancelled} as
    /// soon as `interrupt` is requested while `work` goes on running, so `work` must own all its data.
    void run(std::function<void()> work, Interrupt& interrupt);

  private:
    void wait(Interrupt& interrupt) const;

    std::future<void> work_;
};

} // namespace espalier
