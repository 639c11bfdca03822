// The latency of threads that wake up.
#pragma once

namespace espalier {

/// Asks the system to run the calling thread as soon as it wakes up, even if another thread uses its core;
/// for threads that wake often and do little each time. From version 6.12 on Linux does so for threads with
/// short time slices, which any thread may request; other threads wait for the end of the running slice, some
/// milliseconds. Earlier versions do so for all threads. No effect on other systems.
void run_soon_after_waking();

/// Makes timed sleeps of the calling thread end within a microsecond of their time. Linux otherwise lets them
/// last 50 microseconds longer, to wake several threads at once. No effect on other systems.
class PreciseSleeps {
  public:
    PreciseSleeps();
    ~PreciseSleeps(); ///< On the same thread. Restores the tolerance of the thread.
    PreciseSleeps(PreciseSleeps const&) = delete;
    PreciseSleeps& operator=(PreciseSleeps const&) = delete;

  private:
    int tolerance_ = -1; ///< in ns; negative: unknown
};

} // namespace espalier
