// Errors of processes that read the same file.
#pragma once

#include <string>

#include <fmt/format.h>

#include "comm/collective.hpp"

namespace espalier {

/// Collective, as all_succeed(). The message of an error in the file names no process. Errors of a process
/// itself (it cannot read the file, or lacks memory) name its rank.
template <class Step> void read_together(Communicator const& comm, std::string const& path, Step&& step) {
    std::optional<Error> mine = error_of(step);
    if (mine && mine->status() == Status::out_of_memory)
        mine = error_of([&] { // also if memory for the message is lacking
            throw Error(Status::out_of_memory, fmt::format("{}: the matrix does not fit in memory", path));
        });
    Outcome const outcome = agree(comm, mine);
    bool const own = outcome.status == Status::io_error || outcome.status == Status::out_of_memory ||
                     outcome.status == Status::internal;
    if (!outcome.ok()) throw Error(outcome.status, own ? outcome.message : outcome.what);
}

} // namespace espalier
