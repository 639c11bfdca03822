// Which threads may call the message-passing library, and how many progress threads that allows.
#pragma once

#include <string>

#include "espalier/communicator.hpp"

namespace espalier {

/// As in MPI: one thread in the process; the main thread; one thread at a time; all at once.
enum class ThreadLevel { single, funneled, serialized, multiple };

char const* to_string(ThreadLevel level);

/// What the running library gives. `multiple` for one process, which needs none.
ThreadLevel thread_level(Communicator const& comm);

struct ThreadsChoice {
    int threads = 0;     ///< 0: workers poll; 1: one progress thread; 2: one sends, one receives.
    std::string message; ///< For the user, one line, when `threads` is less than was wanted; else empty.
};

/// The progress threads to use when `wanted` (0, 1 or 2) are asked for: 2 need ThreadLevel::multiple, 1 needs
/// ThreadLevel::serialized. One process needs none. Local; the same on all ranks of one MPI job.
ThreadsChoice choose_comm_threads(Communicator const& comm, int wanted);

/// The same for a known level.
ThreadsChoice choose_comm_threads(ThreadLevel level, int wanted);

} // namespace espalier
