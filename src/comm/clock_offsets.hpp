// The offsets between the clocks of the processes, measured with messages. Process 0 asks each other process
// for its time, and assumes that the answer was given in the middle of the round trip. The error is then at
// most half the round trip (Cristian 1989). The shortest of several round trips is used.
#pragma once

#include <functional>
#include <vector>

#include "espalier/communicator.hpp"
#include "trace/clock_offset.hpp"

namespace espalier {

/// Reads a clock of this process, in nanoseconds.
using ClockReader = std::function<trace::Nanoseconds()>;

/// Collective, with no exchange under way. Returns the offset of each process on process 0, and nothing on
/// the others. Takes about 20 round trips for each process. `this_clock` identifies the clock, 0 if unknown:
/// processes with the same identity share a clock and have offset 0, unless the measurement contradicts.
std::vector<trace::ClockOffset> measure_clock_offsets(Communicator const& comm, ClockReader const& now,
                                                      std::uint64_t this_clock);

/// Measures the offsets of trace::steady_now(), a clock that all processes of one operating system share.
std::vector<trace::ClockOffset> measure_clock_offsets(Communicator const& comm);

} // namespace espalier
