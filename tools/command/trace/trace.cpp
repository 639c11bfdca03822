// `espalier trace`: statistics and pictures of a run or a prediction, as tables, JSON, SVG, PNG and HTML.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "espalier/types.hpp"
#include "json.hpp"
#include "options.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/traces/gantt.hpp"
#include "tools/traces/paje_read.hpp"
#include "tools/traces/statistics.hpp"

namespace espalier::command {

namespace {

constexpr char const* usual_phase = "factorization";

// The phase of the options, or the factorization; "all" if the trace has no factorization.
std::string phase_of(trace::Trace const& trace, TraceOptions const& options) {
    if (options.phase.empty()) return trace::phase(trace, usual_phase) ? usual_phase : "all";
    if (options.phase != "all" && !trace::phase(trace, options.phase)) {
        auto const known = trace::phases(trace);
        throw Error(
            Status::usage,
            fmt::format("'{}' has no phase '{}'; {}", options.file, options.phase,
                        known.empty() ? "it has none" : fmt::format("it has {}", fmt::join(known, ", "))));
    }
    return options.phase;
}

trace::Nanoseconds nanoseconds(double seconds) {
    return std::llround(seconds * 1e9);
}

trace::Window cut(trace::Window window, TraceOptions const& options) {
    trace::Window part = window;
    if (options.from) part.begin = window.begin + nanoseconds(*options.from);
    if (options.to) part.end = std::min(window.end, window.begin + nanoseconds(*options.to));
    return part;
}

trace::Window window_of(trace::Trace const& trace, std::string const& phase, TraceOptions const& options) {
    trace::Window const window =
        phase == "all" ? trace::whole(trace) : trace::phase(trace, phase).value_or(trace::whole(trace));
    trace::Window const part = cut(window, options);
    if (part.begin >= part.end)
        throw Error(Status::usage, fmt::format("--from and --to leave nothing of '{}', which takes {} s",
                                               phase, double(window.end - window.begin) / 1e9));
    return part;
}

// If the phase is "all", the factorizations are compared if both traces have one.
void compare_with(trace::Trace predicted, TraceNumbers& numbers, TraceOptions const& options) {
    auto const has = [](trace::Trace const& trace) { return trace::phase(trace, usual_phase).has_value(); };
    numbers.compared = numbers.phase == "all" ? usual_phase : numbers.phase;
    if (options.phase == "all" && !(has(predicted) && has(numbers.trace))) numbers.compared = "";
    numbers.predicted = std::move(predicted);
    numbers.comparison = trace::compare(*numbers.predicted, numbers.trace, numbers.compared);
    if (!trace::phase(numbers.trace, numbers.compared)) numbers.compared = "all";
    auto const expect = [&](std::string const& file, trace::Trace const& trace, std::string_view origin) {
        auto const found = trace.about("origin");
        if (found == origin) return;
        numbers.notes.push_back(
            found.empty()
                ? fmt::format("'{}' is used as the {} trace, but does not state its origin", file, origin)
                : fmt::format("'{}' is used as the {} trace, but it was {}", file, origin, found));
    };
    expect(options.compare, *numbers.predicted, "predicted");
    expect(options.file, numbers.trace, "measured");
    if (options.from || options.to)
        numbers.notes.push_back(fmt::format("the comparison covers {}; --from and --to do not apply to it",
                                            numbers.compared == "all" ? "both traces as a whole"
                                                                      : "the whole " + numbers.compared));
}

// The metadata of the run, and the lengths of its phases.
std::string headline(std::string const& file, trace::Trace const& trace) {
    std::string text = file;
    char const* separator = ": ";
    for (char const* const first : {"origin", "matrix"})
        if (auto const value = trace.about(first); !value.empty())
            text += separator + std::string(value), separator = ", ";
    for (auto const& [key, value] : trace.metadata())
        if (key != "origin" && key != "matrix") text += separator + key + " " + value, separator = ", ";
    text = wrapped(text, 100) + '\n';
    std::string phases;
    separator = "phases: ";
    for (std::string const& name : trace::phases(trace)) {
        auto const window = *trace::phase(trace, name);
        phases += fmt::format("{}{} {}", separator, name, trace::readable_time(window.end - window.begin));
        separator = ", ";
    }
    return phases.empty() ? text : text + wrapped(phases, 100) + '\n';
}

std::string tables(TraceNumbers const& numbers, TraceOptions const& options) {
    trace::Trace const& trace = numbers.trace;
    std::string text = headline(options.file, trace);
    text += fmt::format("\n{}{}\n", numbers.phase == "all" ? "the whole trace" : numbers.phase,
                        options.from || options.to ? ", in part" : "");
    text += trace::to_text(trace, numbers.statistics) + '\n';
    text += trace::to_text(trace, numbers.path);
    if (numbers.comparison)
        text += fmt::format("\nprediction: {}compared: {}\n", headline(options.compare, *numbers.predicted),
                            numbers.compared == "all" ? "the whole traces" : numbers.compared) +
                trace::to_text(*numbers.comparison);
    for (std::string const& note : numbers.notes) text += "note: " + note + "\n";
    return text;
}

std::vector<trace::GanttPanel> panels_of(TraceNumbers const& numbers, TraceOptions const& options) {
    std::vector<trace::GanttPanel> panels;
    if (numbers.predicted) {
        trace::Window const window = numbers.comparison->predicted;
        trace::Window const part =
            cut(numbers.phase == "all" ? trace::whole(*numbers.predicted) : window, options);
        if (part.begin < part.end) panels.push_back({&*numbers.predicted, part, ""});
    }
    panels.push_back({&numbers.trace, numbers.statistics.window, ""});
    return panels;
}

void show_trace(TraceOptions const& options) {
    OutputFile const svg(options.svg), png(options.png), html(options.html), json(options.json);
    TraceNumbers numbers;
    numbers.trace = trace::read_paje(options.file == "-" ? "/dev/stdin" : options.file);
    numbers.phase = phase_of(numbers.trace, options);
    trace::Window const window = window_of(numbers.trace, numbers.phase, options);
    numbers.statistics = trace::statistics(numbers.trace, window);
    // Dependencies are recorded for the factorization, so its path is shown for the whole run, too.
    auto const usual = numbers.phase == "all" ? trace::phase(numbers.trace, usual_phase) : std::nullopt;
    numbers.path = trace::critical_path(numbers.trace, usual.value_or(window));
    if (!options.compare.empty()) compare_with(trace::read_paje(options.compare), numbers, options);
    auto const panels = panels_of(numbers, options);
    trace::GanttOptions drawing;
    drawing.color_by = options.color_by;
    drawing.width = options.width / drawing.scale;
    if (svg) svg.write_text(trace::gantt_svg(panels, drawing));
    if (png) png.write_text(trace::gantt_png(panels, drawing));
    if (html) html.write_text(trace::gantt_html(panels, {.color_by = options.color_by}));
    if (json) json.write_text(trace_json(numbers));
    if (options.prints()) print(tables(numbers, options));
}

} // namespace

Subcommand trace_command() {
    return make_subcommand<TraceOptions>(
        "trace", "statistics and pictures of a trace: tasks, idle time, critical path", trace_help,
        declare_trace, [](TraceOptions const& options) { check(options); }, show_trace);
}

} // namespace espalier::command
