// The options of `espalier trace`.
#pragma once

#include <optional>
#include <string>

#include "tools/command/common/option_set.hpp"
#include "tools/traces/gantt.hpp"

namespace espalier::command {

struct TraceOptions {
    std::string file;
    std::string compare; ///< The prediction to compare with; empty: none.
    std::string svg;     ///< Output files. Empty: none; "-": standard output.
    std::string png;
    std::string html;
    std::string json;
    trace::ColorBy color_by = trace::ColorBy::kind;
    std::string phase;          ///< Empty: the factorization if the trace has one, else "all".
    std::optional<double> from; ///< Seconds from the begin of the phase.
    std::optional<double> to;
    int width = 2400; ///< Pixels.
    bool quiet = false;

    /// Tables are printed unless an output goes to standard output, or --quiet is given.
    [[nodiscard]] bool prints() const {
        return !quiet && svg != "-" && png != "-" && html != "-" && json != "-";
    }
};

void declare_trace(OptionSet& set, TraceOptions& options);

/// Checks that concern several options. Error{usage}.
void check(TraceOptions const& options);

std::string trace_help();

} // namespace espalier::command
