// The results of `espalier trace`, and their JSON form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/traces/statistics.hpp"
#include "trace/trace.hpp"

namespace espalier::command {

struct TraceNumbers {
    trace::Trace trace;
    std::string phase;            ///< What was looked at; "all" is the whole trace.
    trace::Statistics statistics; ///< Statistics of the window.
    std::optional<trace::CriticalPath> path;
    std::optional<trace::Trace> predicted;
    std::optional<trace::Comparison> comparison; ///< With `predicted`.
    std::string compared;                        ///< The phase that `comparison` is of; "all" is the whole.
    std::vector<std::string> notes;              ///< On the comparison.
};

std::string trace_json(TraceNumbers const& numbers);

} // namespace espalier::command
