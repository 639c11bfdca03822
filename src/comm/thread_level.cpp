#include "comm/thread_level.hpp"

#include <fmt/format.h>

#include "comm/transport.hpp"

namespace espalier {

namespace {

int most_threads(ThreadLevel level) {
    switch (level) {
    case ThreadLevel::multiple:
        return 2;
    case ThreadLevel::serialized:
        return 1;
    case ThreadLevel::funneled:
    case ThreadLevel::single:
        break;
    }
    return 0;
}

} // namespace

char const* to_string(ThreadLevel level) {
    switch (level) {
    case ThreadLevel::single:
        return "MPI_THREAD_SINGLE";
    case ThreadLevel::funneled:
        return "MPI_THREAD_FUNNELED";
    case ThreadLevel::serialized:
        return "MPI_THREAD_SERIALIZED";
    case ThreadLevel::multiple:
        break;
    }
    return "MPI_THREAD_MULTIPLE";
}

ThreadLevel thread_level(Communicator const& comm) {
    return comm.size() == 1 ? ThreadLevel::multiple : transport_of(comm)->thread_level();
}

ThreadsChoice choose_comm_threads(ThreadLevel level, int wanted) {
    int const most = most_threads(level);
    if (wanted <= most) return {wanted, ""};
    ThreadLevel const needed = wanted == 1 ? ThreadLevel::serialized : ThreadLevel::multiple;
    return {most,
            fmt::format("{} communication thread{} {} and the MPI library runs with {}: {}", wanted,
                        wanted == 1 ? " needs" : "s need", to_string(needed), to_string(level),
                        most == 1 ? "one communication thread is used" : "the worker threads communicate")};
}

ThreadsChoice choose_comm_threads(Communicator const& comm, int wanted) {
    return comm.size() == 1 ? ThreadsChoice{} : choose_comm_threads(thread_level(comm), wanted);
}

} // namespace espalier
