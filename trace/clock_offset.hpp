// Aligns the clocks of several processes. The offset of each process from process 0 is measured before and
// after the run, and interpolated linearly, as clocks drift.
#pragma once

#include "trace/trace.hpp"

namespace espalier::trace {

/// The difference between the clock of a process and that of process 0.
struct ClockOffset {
    Nanoseconds at = 0; ///< The time of the measurement by the clock of the process.
    Nanoseconds offset = 0;
    Nanoseconds error = 0; ///< The true offset is between offset - error and offset + error.
};

/// Converts all times of the parts from the clock of their process to the clock of process 0, relative to
/// `zero`.
void set_clock(TraceParts& parts, ClockOffset const& first, ClockOffset const& last, Nanoseconds zero);

/// The metadata key for the largest error of an offset ("850 ns").
inline constexpr char const* clock_error_key = "clock error";

} // namespace espalier::trace
