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
    std::string phase;            ///< The phase that was evaluated; "all" is the whole trace.
    trace::Statistics statistics; ///< Statistics of the window.
    std::optional<trace::CriticalPath> path;
    std::optional<trace::Trace> predicted;
    std::optional<trace::Comparison> comparison; ///< Set if `predicted` is.
    std::string compared;                        ///< The phase of `comparison`; "all" is the whole trace.
    std::vector<std::string> notes;              ///< Notes on the comparison.
};

std::string trace_json(TraceNumbers const& numbers);

} // namespace espalier::command
