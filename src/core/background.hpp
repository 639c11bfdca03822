// Runs work that cannot be interrupted on a separate thread, so that a cancelling caller regains control at
// once. The thread then finishes alone; it is joined before the next work starts, or by the destructor.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "core/interrupt.hpp"

namespace espalier {

/// A thread that runs one piece of work at a time.
class Background {
  public:
    Background() = default;
    Background(Background const&) = delete;
    Background& operator=(Background const&) = delete;
    ~Background() { join(); }

    /// Waits for earlier work, runs `work` to its end and rethrows its exception. Throws Error{cancelled} as
    /// soon as `interrupt` is requested while `work` goes on running, so `work` must own all its data.
    void run(std::function<void()> work, Interrupt& interrupt);

  private:
    void start(std::function<void()> work);
    void wait(Interrupt& interrupt);
    void join();

    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = true;             // guarded by mutex_ while the thread runs
    std::exception_ptr exception_; // set by the thread before done_
};

} // namespace espalier
