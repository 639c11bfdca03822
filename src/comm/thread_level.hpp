// The threads that may call the message-passing library, and the number of communication threads that this
// allows.
#pragma once

#include <string>

#include "espalier/communicator.hpp"

namespace espalier {

/// The threads that may call the library, as in MPI: the only thread of the process, the main thread, one
/// thread at a time, or any thread at any time.
enum class ThreadLevel { single, funneled, serialized, multiple };

char const* to_string(ThreadLevel level);

/// The level of the running MPI library; `multiple` for one process, which does not use it.
ThreadLevel thread_level(Communicator const& comm);

struct ThreadsChoice {
    int threads = 0;     ///< 0: workers poll; 1: one communication thread; 2: one sends, one receives.
    std::string message; ///< A note for the user if `threads` is less than requested; otherwise empty.
};

/// The number of communication threads to use if `wanted` (0, 1 or 2) are requested. Two threads need
/// ThreadLevel::multiple, one needs ThreadLevel::serialized, and a single process needs none. Local, with the
/// same result on all ranks of an MPI job.
ThreadsChoice choose_comm_threads(Communicator const& comm, int wanted);

/// Chooses for a known thread level of several processes.
ThreadsChoice choose_comm_threads(ThreadLevel level, int wanted);

} // namespace espalier
