#include "options.hpp"

#include <array>

#include <fmt/format.h>

#include "tools/command/common/output_file.hpp"
#include "tools/command/solve/options.hpp"

namespace espalier::command {

namespace {

constexpr std::array<char const*, 2> colorings{"kind", "level"}; // in the order of trace::ColorBy

void add_seconds(OptionSet& set, OptionText const& text, std::optional<double>& seconds) {
    set.value(text, [name = text.name, &seconds](std::string const& given) {
        constexpr double most = 1e8; // nanoseconds fit into 64 bits
        seconds = parse_not_negative(name, given);
        if (*seconds >= most) throw Error(Status::usage, fmt::format("{} must be below {} s", name, most));
    });
}

} // namespace

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
    add_seconds(set, {"--from", "S", "leave out what comes before: seconds from the begin of the phase [0]"},
                options.from);
    add_seconds(set, {"--to", "S", "leave out what comes after, in the same unit [the end of the phase]"},
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

void check(TraceOptions const& options) {
    if (options.from && options.to && *options.to <= *options.from)
        throw Error(Status::usage, fmt::format("--to {} is not after --from {}", *options.to, *options.from));
    refuse_same_files(
        {{"--svg", options.svg}, {"--png", options.png}, {"--html", options.html}, {"--json", options.json}},
        {{"the trace", options.file}, {"--compare", options.compare}});
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
longest chain of tasks that had to wait for each other: more threads do not make the phase shorter
than that. Idle time is black in pictures. States narrower than a pixel are mixed by their times,
not dropped. ViTE opens the same files.
)";
}

} // namespace espalier::command
