#include "options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "solver/parse_value.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/option_value.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/processes.hpp"

namespace espalier::command {

namespace {

constexpr std::size_t most_cases = 1000;

// NAME=VALUE,VALUE
Variation parse_variation(std::string const& text) {
    std::size_t const equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw Error(Status::usage,
                    fmt::format("--vary needs NAME=VALUE,VALUE, as in threads=1,2, not '{}'", text));
    Variation variation{text.substr(0, equals), {}};
    for (std::size_t begin = equals + 1; begin <= text.size();) {
        std::size_t const end = std::min(text.find(',', begin), text.size());
        if (end == begin) throw Error(Status::usage, fmt::format("--vary {} has an empty value", text));
        variation.values.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return variation;
}

void take_variation(CompareOptions& options, std::string const& text) {
    Variation variation = parse_variation(text);
    for (Variation const& other : options.vary)
        if (other.name == variation.name)
            throw Error(Status::usage, fmt::format("--vary {} is given more than once", other.name));
    options.vary.push_back(std::move(variation));
}

constexpr int most_threads = 4096; // that run here

// What can be varied besides the settings of the library.
constexpr std::string_view processes = "processes", right_hand_sides = "nrhs";

// Settings of the library that a simulation has no use for: the table would show them as if they had.
constexpr std::array<std::string_view, 9> without_effect = {
    "topology",  "refine",       "max-refine-iterations", "tolerance",     "bind",
    "condition", "record-trace", "pivot-threshold",       right_hand_sides};

template <class List> bool contains(List const& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

void require_name(std::string const& name) {
    auto const names = option_names();
    if (contains(names, name) || name == processes || name == right_hand_sides) return;
    if (name == "precision")
        throw Error(
            Status::usage,
            "--vary precision is not possible, as all combinations share one matrix; give --precision, "
            "and run compare once for each; --vary mixed-precision=on,off is possible");
    throw Error(Status::usage, fmt::format("--vary {}: there is no option '{}'; there are {}, {} and {}",
                                           name, name, fmt::join(names, ", "), right_hand_sides, processes));
}

void set(RunOptions& run, std::string const& name, std::string const& value, bool simulated) {
    try {
        if (name == processes)
            run.processes = static_cast<int>(parse_count(name, value, 1, 1 << 20));
        else if (name == right_hand_sides)
            run.nrhs = parse_count(name, value, 1, 1'000'000);
        else if (name == "threads" && simulated && value != "auto")
            run.library.threads = static_cast<int>(parse_count(name, value, 1, most_simulated_threads));
        else if (name == "topology")
            run.library.topology = parse_topology(name, value);
        else
            set_option(run.library, name, value);
    } catch (Error const& e) {
        throw Error(e.status(), fmt::format("--vary {}={}: {}", name, value, e.what()));
    }
}

bool is_given(RunOptions const& run, std::string const& name) {
    if (name == processes) return run.processes.has_value();
    if (name == right_hand_sides) return run.nrhs.has_value();
    return get_option(run.library, name) != get_option(Options{}, name);
}

// The common setting of a varied option would have no effect, nor do some settings of a simulation.
void refuse_vain_variations(CompareOptions const& options) {
    for (Variation const& variation : options.vary) {
        require_name(variation.name);
        if (options.is_simulated() && contains(without_effect, variation.name))
            throw Error(Status::usage,
                        fmt::format("--vary {} has no effect on a simulation: {}", variation.name,
                                    variation.name == "topology" ? "--simulate names the machine"
                                                                 : "nothing is factorized or solved"));
        if (is_given(options.run, variation.name))
            throw Error(Status::usage,
                        fmt::format("--vary {0} and --{0} contradict each other", variation.name));
    }
}

void refuse_colliding_outputs(CompareOptions const& options) {
    NamedPath const outputs[] = {
        {"--csv", options.csv}, {"--json", options.run.json}, {"--picture", options.picture}};
    std::vector<NamedPath> inputs = input_files(options.run);
    if (is_machine_file(options.simulate)) inputs.push_back({"--simulate", options.simulate});
    for (Variation const& variation : options.vary)
        for (std::string const& value : variation.values)
            if (variation.name == "ordering" || (variation.name == "topology" && is_machine_file(value)))
                inputs.push_back({"--vary " + variation.name, value});
    refuse_same_files(outputs, inputs);
}

} // namespace

std::vector<CompareCase> compare_cases(CompareOptions const& options) {
    std::vector<CompareCase> cases{{{}, options.run}};
    for (Variation const& variation : options.vary) {
        if (cases.size() * variation.values.size() > most_cases)
            throw Error(Status::usage,
                        fmt::format("the --vary options make more than {} combinations", most_cases));
        std::vector<CompareCase> finer;
        for (CompareCase const& one : cases)
            for (std::string const& value : variation.values) {
                finer.push_back(one);
                finer.back().values.push_back(value);
                set(finer.back().run, variation.name, value, options.is_simulated());
            }
        cases = std::move(finer);
    }
    return cases;
}

void add_compare_options(CLI::App& command, CompareOptions& options) {
    command
        .add_option_function<std::vector<std::string>>(
            "--vary",
            [&options](std::vector<std::string> const& texts) {
                for (std::string const& text : texts) take_variation(options, text);
            },
            wrapped("compare these values of an option: schedule=static,dynamic or threads=1,2,4; given "
                    "several times, every combination is run. NAME is schedule, alloc, threads, split, push, "
                    "select, ordering, factorization, max-block-width, any other setting of the library, "
                    "nrhs or processes (of those that mpirun started, or that are simulated)",
                    76))
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("NAME=VALUE,...");
    add_option_value(command, "--repeat", "R",
                     "run every combination once, then all again, R times in all; medians count [3]",
                     [&options](std::string const& text) {
                         options.repeat = static_cast<int>(parse_count("--repeat", text, 1, 10'000));
                     });
    add_text_option(command, "--simulate", "MACHINE",
                    "run nothing: simulate every combination on a machine that need not be here: as "
                    "'espalier simulate --machine', or here",
                    options.simulate);
    add_option_value(
        command, "--processes", "P", "so many of the processes that mpirun started [all], or simulated [1]",
        [&options](std::string const& text) {
            options.run.processes = static_cast<int>(parse_count("--processes", text, 1, 1 << 20));
        });
    add_text_option(command, "--csv", "FILE",
                    "write the table as comma-separated values (- is standard output)", options.csv);
    add_text_option(command, "--json", "FILE",
                    "write the table as JSON, with every run (- is standard output)", options.run.json);
    add_text_option(command, "--picture", "FILE",
                    "draw the times as bars: an SVG file when its name ends in .svg, PNG for .png",
                    options.picture);
    command.add_flag("--quiet", options.run.quiet, "print nothing but errors");
}

void check(CompareOptions const& options) {
    if (options.vary.empty())
        throw Error(Status::usage, "nothing to compare: give --vary, as in --vary schedule=static,dynamic");
    refuse_vain_variations(options);
    refuse_colliding_outputs(options);
    for (CompareCase const& one : compare_cases(options)) {
        check(one.run);
        int const wanted = one.run.processes.value_or(1);
        if (!options.is_simulated() && wanted > num_processes())
            throw Error(
                Status::usage,
                fmt::format("{} processes were asked for, and {} started: start with "
                            "'mpirun -n {}', or name a machine with --simulate",
                            wanted,
                            num_processes() == 1 ? "one was" : fmt::format("{} were", num_processes()),
                            wanted));
    }
    if (options.is_simulated() && !options.run.library.topology.empty())
        throw Error(Status::usage, "--simulate and --topology both name a machine");
    if (!options.picture.empty() && !options.picture.ends_with(".svg") && !options.picture.ends_with(".png"))
        throw Error(Status::usage, fmt::format("--picture '{}' has to end in .svg or .png", options.picture));
    if (!options.is_simulated() && options.run.library.threads > most_threads)
        static_cast<void>(
            parse_count("--threads", std::to_string(options.run.library.threads), 1, most_threads));
}

std::string compare_help() {
    return "Examples:\n"
           "  espalier compare lap3d:60 --vary schedule=static,dynamic --vary threads=1,2\n"
           "  espalier compare a.mtx --vary split=1d,2d --schedule dynamic --repeat 7 --picture split.png\n"
           "  espalier compare a.mtx --vary ordering=scotch,metis,amd --csv - --repeat 1\n"
           "  espalier compare elast3d:48 --simulate 'numa:4 core:16' --vary schedule=static,dynamic \\\n"
           "                   --vary threads=1,16,64\n\n"
           "Each combination is analyzed once and then factorized, solved and refined in turn with the "
           "others, so\n"
           "that what disturbs the machine meets all of them. The table has the median of the runs, the "
           "fastest\n"
           "and the slowest, and the ratio of the median to that of the first row: below 1 is faster. Rows "
           "whose\n"
           "ranges overlap may differ by chance.\n\n"
           "A combination that fails is a row that says so; the others go on, and the exit code is that of "
           "the\n"
           "first failure.\n";
}

} // namespace espalier::command
