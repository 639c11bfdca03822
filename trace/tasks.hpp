// The tasks of a trace: states with the same number, which may be pieces of one, added up.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

struct TaskTime {
    std::int64_t task = 0;
    Nanoseconds duration = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::int16_t kind = 0; ///< Of its first piece.
};

/// By task number. Only states of threads in category work.
std::vector<TaskTime> task_times(Trace const& trace);

} // namespace espalier::trace
