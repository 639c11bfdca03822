// How far the clocks of the processes are apart, by messages to and fro: process 0 asks each in turn what
// time it is. The answer was given between question and arrival, and taken for the middle it is wrong by half
// the round trip at most (Cristian 1989); of several rounds the shortest counts.
#pragma once

#include <functional>
#include <vector>

#include "espalier/communicator.hpp"
#include "trace/clock_offset.hpp"

namespace espalier {

/// Nanoseconds by a clock of this process.
using ClockReader = std::function<trace::Nanoseconds()>;

/// Collective, with no exchange under way. On process 0 the offset of each process, elsewhere nothing. Takes
/// some 20 round trips for each process. `this_clock` names the clock, 0 for no name: processes that name
/// theirs alike have the same, and no error, unless what is measured contradicts.
std::vector<trace::ClockOffset> measure_clock_offsets(Communicator const& comm, ClockReader const& now,
                                                      std::uint64_t this_clock);

/// trace::steady_now() of every process: those of one running system have the same.
std::vector<trace::ClockOffset> measure_clock_offsets(Communicator const& comm);

} // namespace espalier
