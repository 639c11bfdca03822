// The tasks of a trace. The states of one task, which may be several pieces, are added up.
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

/// Sorted by task number. Only states for which is_work() holds are counted.
std::vector<TaskTime> task_times(Trace const& trace, Window window);

/// Whether a state belongs to a thread, has category work, and is in the window.
bool is_work(Trace const& trace, State const& state, Window window);

} // namespace espalier::trace
