// Work that cannot be interrupted, on a thread of its own, so that a caller who cancels gets control back at
// once: the thread is left to finish alone, and is joined before the next work starts or at the end.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "core/interrupt.hpp"

namespace espalier {

class Background {
  public:
    Background() = default;
    Background(Background const&) = delete;
    Background& operator=(Background const&) = delete;
    ~Background() { join(); }

    /// Runs `work`, after any earlier one, to its end and rethrows what it threw; or throws Error{cancelled}
    /// as soon as `interrupt` says so, with `work` still running: it must own all it touches.
    void run(std::function<void()> work, Interrupt& interrupt);

  private:
    void start(std::function<void()> work);
    void wait(Interrupt& interrupt);
    void join();

    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = true;             // under mutex_ while there is a thread
    std::exception_ptr exception_; // written by the thread before done_
};

} // namespace espalier
