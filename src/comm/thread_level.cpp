#include "comm/thread_level.hpp"

#include <array>

#include <fmt/format.h>

#include "comm/transport.hpp"
#include "core/counted.hpp"

namespace espalier {

char const* to_string(ThreadLevel level) {
    constexpr std::array names{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                               "MPI_THREAD_MULTIPLE"};
    return names[static_cast<std::size_t>(level)];
}

ThreadLevel thread_level(Communicator const& comm) {
    return comm.size() == 1 ? ThreadLevel::multiple : transport_of(comm)->thread_level();
}

ThreadsChoice choose_comm_threads(ThreadLevel level, int wanted) {
    int const most = level == ThreadLevel::multiple ? 2 : level == ThreadLevel::serialized ? 1 : 0;
    if (wanted <= most) return {wanted, ""};
    ThreadLevel const needed = wanted == 1 ? ThreadLevel::serialized : ThreadLevel::multiple;
    return {most,
            fmt::format("{} {}, but the MPI library runs with {}: {}",
                        counted(wanted, "communication thread needs", "communication threads need"),
                        to_string(needed), to_string(level),
                        most == 1 ? "one communication thread is used" : "the worker threads communicate")};
}

ThreadsChoice choose_comm_threads(Communicator const& comm, int wanted) {
    return comm.size() == 1 ? ThreadsChoice{} : choose_comm_threads(thread_level(comm), wanted);
}

} // namespace espalier
