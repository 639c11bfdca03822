// How soon a thread gets a core that another one is using.
#pragma once

namespace espalier {

/// Asks the system to run the calling thread as soon as it wakes up, though a busy thread stands on its core:
/// for threads that wake often and do little each time. Linux from 6.12 on does so for threads that ask for
/// short time slices, as every thread may, and otherwise lets them wait some milliseconds, until the end of
/// the other's; earlier ones do so anyway. Elsewhere nothing happens.
void run_soon_after_waking();

} // namespace espalier
