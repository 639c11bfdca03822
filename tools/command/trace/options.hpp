// What `espalier trace` is asked for.
#pragma once

#include <optional>
#include <string>

#include "tools/traces/gantt.hpp"

namespace CLI {
class App;
}

namespace espalier::command {

struct TraceOptions {
    std::string file;
    std::string compare; ///< The prediction to hold it against; empty: none.
    std::string svg;     ///< Where pictures go; empty: nowhere, "-": standard output.
    std::string png;
    std::string html;
    std::string json;
    trace::ColorBy color_by = trace::ColorBy::kind;
    std::string phase;          ///< Empty: the factorization if there is one, else all. "all": the whole.
    std::optional<double> from; ///< Seconds from the phase's begin.
    std::optional<double> to;
    int width = 2400; ///< Pixels.
    bool quiet = false;

    /// Tables go to standard output unless data does, or the user wants none.
    [[nodiscard]] bool prints() const {
        return !quiet && svg != "-" && png != "-" && html != "-" && json != "-";
    }
};

void add_trace_options(CLI::App& command, TraceOptions& options);

/// Checks that go beyond one option's text: outputs over each other or over inputs, an empty time.
/// Error{usage}.
void check(TraceOptions const& options);

std::string trace_help();

} // namespace espalier::command
