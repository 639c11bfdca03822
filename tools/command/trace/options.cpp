#include "options.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "espalier/types.hpp"
#include "solver/parse_value.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/option_value.hpp"
#include "tools/command/common/output_file.hpp"

namespace espalier::command {

namespace {

double parse_seconds(std::string const& option, std::string const& text) {
    double value = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || !(value >= 0 && value < 1e8))
        throw Error(Status::usage,
                    fmt::format("{} needs a time in seconds, such as 0.25, not '{}'", option, text));
    return value;
}

} // namespace

void add_trace_options(CLI::App& command, TraceOptions& options) {
    command
        .add_option("FILE", options.file,
                    "a Paje trace, compressed by gzip or not, of Espalier or of another program")
        ->required()
        ->type_name("");
    add_text_option(
        command, "--compare", "PREDICTED",
        "the trace of a prediction, as 'espalier analyze --trace' writes it: how far it was from FILE, and "
        "both in one picture",
        options.compare);
    add_text_option(command, "--svg", "FILE", "draw the Gantt chart as SVG (- is standard output)",
                    options.svg);
    add_text_option(command, "--png", "FILE", "draw the Gantt chart as PNG (- is standard output)",
                    options.png);
    add_text_option(
        command, "--html", "FILE",
        "write a page in which one can zoom and ask every state what it is; it needs nothing else (- is "
        "standard output)",
        options.html);
    add_option_value(command, "--color", "BY", "kind or level (of the elimination tree) [kind]",
                     [&options](std::string const& text) {
                         if (text != "kind" && text != "level")
                             throw Error(Status::usage,
                                         fmt::format("--color has no value '{}'; it has kind, level", text));
                         options.color_by = text == "kind" ? trace::ColorBy::kind : trace::ColorBy::level;
                     });
    add_text_option(
        command, "--phase", "NAME",
        "look at one phase only, such as factorization or solve; all is the whole trace [factorization, "
        "or all where there is none]",
        options.phase);
    add_option_value(command, "--from", "S",
                     "leave out what comes before: seconds from the begin of the phase [0]",
                     [&options](std::string const& text) { options.from = parse_seconds("--from", text); });
    add_option_value(command, "--to", "S", "leave out what comes after, likewise [the phase's end]",
                     [&options](std::string const& text) { options.to = parse_seconds("--to", text); });
    add_option_value(command, "--width", "PIXELS",
                     "width of the PNG; the SVG is half as wide, in points [2400]",
                     [&options](std::string const& text) {
                         options.width = static_cast<int>(parse_count("--width", text, 600, 20000));
                     });
    add_text_option(command, "--json", "FILE", "write the numbers as JSON (- is standard output)",
                    options.json);
    command.add_flag("--quiet", options.quiet, "print nothing but errors");
}

void check(TraceOptions const& options) {
    if (options.from && options.to && *options.to <= *options.from)
        throw Error(Status::usage, fmt::format("--to {} is not after --from {}", *options.to, *options.from));
    NamedPath const outputs[] = {
        {"--svg", options.svg}, {"--png", options.png}, {"--html", options.html}, {"--json", options.json}};
    NamedPath const inputs[] = {{"the trace", options.file}, {"--compare", options.compare}};
    refuse_same_files(outputs, inputs);
}

std::string trace_help() {
    return "Examples:\n"
           "  espalier solve lap3d:60 --threads 2 --trace run.paje\n"
           "  espalier trace run.paje                            busy and idle, tasks, critical path\n"
           "  espalier trace run.paje --png run.png --color level\n"
           "  espalier trace run.paje --html run.html            to zoom into\n"
           "  espalier analyze lap3d:60 --threads 2 --trace predicted.paje\n"
           "  espalier trace run.paje --compare predicted.paje --svg both.svg\n\n"
           "The table has a line for each thread: the share of its time in tasks (busy), in messages "
           "(comm.),\n"
           "in looking for tasks (overhead), with nothing to do (idle), and what was not recorded. The\n"
           "critical path is the longest chain of tasks that had to wait for each other: no number of "
           "threads\n"
           "makes the phase shorter than that. Idle time is black in pictures. States narrower than a pixel\n"
           "are mixed by the time they take, not dropped. ViTE opens the same files.\n";
}

} // namespace espalier::command
