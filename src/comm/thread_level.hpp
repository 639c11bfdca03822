// The threads that may call the message-passing library, and the number of progress threads that this allows.
#pragma once

#include <string>

#include "espalier/communicator.hpp"

namespace espalier {

/// As in MPI: one thread in the process; the main thread; one thread at a time; all at once.
enum class ThreadLevel { single, funneled, serialized, multiple };

char const* to_string(ThreadLevel level);

/// The level of the running MPI library; `multiple` for one process, which does not use it.
ThreadLevel thread_level(Communicator const& comm);

struct ThreadsChoice {
    int threads = 0;     ///< 0: workers poll; 1: one progress thread; 2: one sends, one receives.
    std::string message; ///< A note for the user if `threads` is less than requested; otherwise empty.
};

/// The number of progress threads to use of `wanted` (0, 1 or 2): 2 need ThreadLevel::multiple, 1 needs
/// ThreadLevel::serialized. One process needs none. Local; the same on all ranks of one MPI job.
ThreadsChoice choose_comm_threads(Communicator const& comm, int wanted);

/// Likewise, for a known level.
ThreadsChoice choose_comm_threads(ThreadLevel level, int wanted);

} // namespace espalier
