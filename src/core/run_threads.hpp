// A parallel loop for the readers, which run before the runtime exists: body(0) .. body(count - 1), each on
// its own thread; the calling thread runs body(0).
#pragma once

#include <functional>

namespace espalier {

/// The number of threads to use for the requested `threads`: values below 1 mean all cores of the process;
/// the result is at most 64.
int team_size(int threads);

/// Runs body(t) for t in [0, count) and waits for all calls. If several throw, the exception of the smallest
/// t is rethrown, so the outcome does not depend on timing. If the system cannot start all threads, the
/// calling thread runs the remaining calls.
void run_threads(int count, std::function<void(int)> const& body);

} // namespace espalier
