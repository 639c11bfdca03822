// The tasks of a trace: states with the same number, which may be pieces of one, added up.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/traces/statistics.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

struct TaskTime {
    std::int64_t task = 0;
    Nanoseconds duration = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
};

/// By task number. Only states of threads in category work that lie in the window.
std::vector<TaskTime> task_times(Trace const& trace, Window window);

/// Whether the state is a thread's, of category work, and lies in the window.
bool is_work(Trace const& trace, State const& state, Window window);

} // namespace espalier::trace
