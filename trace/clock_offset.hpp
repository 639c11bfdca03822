// The clocks of several processes brought together. What each recorded is in its own time; its offset from
// process 0 was measured before and after, and lies in between on a straight line, as clocks drift.
#pragma once

#include "trace/trace.hpp"

namespace espalier::trace {

/// What a process's clock was ahead of that of process 0.
struct ClockOffset {
    Nanoseconds at = 0; ///< By the process's own clock.
    Nanoseconds offset = 0;
    Nanoseconds error = 0; ///< The truth is within offset - error .. offset + error.
};

/// All times of the parts, which are by the process's own clock, become times after `zero` by the clock of
/// process 0.
void set_clock(TraceParts& parts, ClockOffset const& first, ClockOffset const& last, Nanoseconds zero);

/// Where a trace says how far the clocks of its processes may be apart ("850 ns").
inline constexpr char const* clock_error_key = "clock error";

} // namespace espalier::trace
