// `espalier trace`: statistics and pictures of a run or a prediction, as tables, JSON, SVG, PNG and HTML.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "espalier/types.hpp"
#include "json.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/command/solve/options.hpp"
#include "tools/traces/gantt.hpp"
#include "tools/traces/paje_read.hpp"
#include "tools/traces/statistics.hpp"

namespace espalier::command {

namespace {

struct TraceOptions {
    std::string file;
    std::string compare; ///< The prediction to compare with; empty: none.
    std::string svg;     ///< Output files. Empty: none; "-": standard output.
    std::string png;
    std::string html;
    std::string json;
    trace::ColorBy color_by = trace::ColorBy::kind;
    std::string phase;          ///< Empty: the factorization if the trace has one, else "all".
    std::optional<double> from; ///< Seconds from the start of the phase.
    std::optional<double> to;
    int width = 2400; ///< Pixels.
    bool quiet = false;

    /// Tables are printed unless an output goes to standard output, or --quiet is given.
    [[nodiscard]] bool prints() const {
        return !quiet && svg != "-" && png != "-" && html != "-" && json != "-";
    }
};

constexpr std::array<char const*, 2> colorings{"kind", "level"}; // in the order of trace::ColorBy

void add_seconds(OptionSet& set, OptionText const& text, std::optional<double>& seconds) {
    set.value(text, [name = text.name, &seconds](std::string const& given) {
        constexpr double most = 1e8; // nanoseconds fit into 64 bits
        seconds = parse_not_negative(name, given);
        if (*seconds >= most) throw Error(Status::usage, fmt::format("{} must be below {} s", name, most));
    });
}

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

trace::Window cut(trace::Window window, TraceOptions const& options) {
    trace::Window part = window;
    if (options.from) part.begin = window.begin + trace::nanoseconds(*options.from);
    if (options.to) part.end = std::min(window.end, window.begin + trace::nanoseconds(*options.to));
    return part;
}

trace::Window window_of(trace::Trace const& trace, std::string const& phase, TraceOptions const& options) {
    trace::Window const window =
        phase == "all" ? trace::whole(trace) : trace::phase(trace, phase).value_or(trace::whole(trace));
    trace::Window const part = cut(window, options);
    if (part.begin >= part.end)
        throw Error(Status::usage, fmt::format("--from and --to select no part of '{}', which takes {} s",
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

void declare_trace(OptionSet& set, TraceOptions& options) {
    set.positional("FILE",
                   "a Paje trace of Espalier or of another program (also .gz), or - for standard input",
                   options.file);
    set.group("Window");
    set.text({"--phase",
              "NAME",
              "show one phase, such as factorization or solve; all is the whole trace [factorization, or all "
              "if the trace has none]",
              {"factorization", "solve", "refinement", "all"}},
             options.phase);
    add_seconds(set, {"--from", "S", "start of the window, in seconds from the start of the phase [0]"},
                options.from);
    add_seconds(
        set,
        {"--to", "S", "end of the window, in seconds from the start of the phase [the end of the phase]"},
        options.to);
    set.text({"--compare", "PREDICTED_FILE",
              "trace of a prediction, as 'espalier analyze --trace' writes it: report its error, and draw "
              "both in one picture"},
             options.compare);
    set.group("Output");
    set.text({"--svg", "FILE", "draw the Gantt chart as SVG (- is standard output)"}, options.svg);
    set.text({"--png", "FILE", "draw the Gantt chart as PNG (- is standard output)"}, options.png);
    set.text({"--html", "FILE",
              "write a page that zooms into the Gantt chart and describes each state; it needs no other file "
              "(- is standard output)"},
             options.html);
    set.choice({"--color", "BY",
                "color of the states: by the kind of task, or by the level of the elimination tree [kind]"},
               colorings, [&options](std::size_t k) { options.color_by = static_cast<trace::ColorBy>(k); });
    set.count({"--width", "PIXELS", "width of the PNG; the SVG has half as many points [2400]"},
              options.width, 600, 20000);
    add_json(set, options.json, "numbers");
    add_quiet(set, options.quiet);
}

// Error{usage} unless the file has the extension of its format; so may one that will be compressed.
void check_extension(std::string_view option, std::string_view path, std::string_view extension) {
    std::string_view const name = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
    if (!name.empty() && name != "-" && !name.starts_with("/dev/") && !name.ends_with(extension))
        throw Error(Status::usage, fmt::format("{} '{}' must end in {}", option, path, extension));
}

void check_trace(TraceOptions const& options) {
    check_extension("--svg", options.svg, ".svg");
    check_extension("--png", options.png, ".png");
    check_extension("--html", options.html, ".html");
    if (options.from && options.to && *options.to <= *options.from)
        throw Error(Status::usage, fmt::format("--to {} is not after --from {}", *options.to, *options.from));
    std::vector<NamedPath> const inputs{{"the trace", options.file}, {"--compare", options.compare}};
    refuse_same_files(
        {{"--svg", options.svg}, {"--png", options.png}, {"--html", options.html}, {"--json", options.json}},
        inputs);
    require_readable(inputs);
}

std::string trace_help() {
    return R"(Examples:
  espalier solve lap3d:60 --threads 2 --trace run.paje
  espalier trace run.paje                            busy and idle, tasks, critical path
  espalier trace run.paje --png run.png --color level
  espalier trace run.paje --html run.html            to zoom into
  espalier analyze lap3d:60 --threads 2 --trace predicted.paje
  espalier trace run.paje --compare predicted.paje --svg both.svg

The table has a line for each thread: the share of its time in tasks (busy), in messages (comm.),
in the search for tasks (overhead), without work (idle), and not recorded. The critical path is the
longest chain of tasks that had to wait for each other: no number of threads makes the phase
shorter. Idle time is black in pictures. States narrower than a pixel are blended in proportion to
their times, not dropped. ViTE opens the same files.
)";
}

} // namespace

Subcommand trace_command() {
    return make_subcommand<TraceOptions>(
        "trace", "show statistics and pictures of a trace: tasks, idle time, critical path", trace_help,
        declare_trace, check_trace, show_trace);
}

} // namespace espalier::command
