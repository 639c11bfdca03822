// The latency of a thread that wakes up on a busy core.
#pragma once

namespace espalier {

/// Asks the system to run the calling thread as soon as it wakes up, even if another thread uses its core;
/// for threads that wake often and do little each time. From version 6.12 on Linux does so for threads with
/// short time slices, which any thread may request; other threads wait for the end of the running slice, some
/// milliseconds. Earlier versions do so for all threads. No effect on other systems.
void run_soon_after_waking();

} // namespace espalier
