#include "compare_options.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "help.hpp"
#include "matrix/generators.hpp"
#include "numbers.hpp"
#include "option_value.hpp"
#include "output_file.hpp"

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

void set(RunOptions& run, std::string const& name, std::string const& value) {
    try {
        if (name == "processes")
            run.processes = static_cast<int>(parse_count(name, value, 1, 1 << 20));
        else
            set_option(run.library, name, value);
    } catch (Error const& e) {
        throw Error(e.status(), fmt::format("--vary {}={}: {}", name, value, e.what()));
    }
}

// The common setting of a varied option would have no effect.
void refuse_set_and_varied(CompareOptions const& options) {
    for (Variation const& variation : options.vary) {
        bool const is_processes = variation.name == "processes";
        if (is_processes && !options.is_simulated())
            throw Error(Status::usage, "--vary processes goes with --simulate only");
        bool const given = is_processes ? options.run.processes.has_value()
                                        : get_option(options.run.library, variation.name) !=
                                              get_option(Options{}, variation.name);
        if (given)
            throw Error(Status::usage,
                        fmt::format("--vary {0} and --{0} contradict each other", variation.name));
    }
}

void refuse_colliding_outputs(CompareOptions const& options) {
    using Named = std::pair<char const*, std::string>;
    RunOptions const& run = options.run;
    std::array const outputs{Named{"--csv", options.csv}, Named{"--json", run.json},
                             Named{"--picture", options.picture}};
    bool const made = run.rhs == "ones" || run.rhs == "random";
    std::vector<Named> inputs{{"the matrix", is_generator(run.matrix) ? "" : run.matrix},
                              {"--rhs", made ? "" : run.rhs},
                              {"--ordering", run.library.ordering_file}};
    for (std::string const& machine : {options.simulate, run.library.topology})
        if (machine.ends_with(".json") || machine.ends_with(".xml"))
            inputs.emplace_back("the machine", machine);
    for (Variation const& variation : options.vary)
        if (variation.name == "ordering")
            for (std::string const& value : variation.values) inputs.emplace_back("--vary ordering", value);
    auto const refuse = [](Named const& one, Named const& other) {
        if (one.second.empty() || other.second.empty() || !name_same_file(one.second, other.second)) return;
        throw Error(Status::usage, fmt::format("{} '{}' and {} '{}' are the same file", one.first, one.second,
                                               other.first, other.second));
    };
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t j = i + 1; j < outputs.size(); ++j) refuse(outputs[i], outputs[j]);
        for (Named const& input : inputs)
            if (input.second != "-") refuse(outputs[i], input);
    }
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
                set(finer.back().run, variation.name, value);
            }
        cases = std::move(finer);
    }
    return cases;
}

void add_compare_options(CLI::App& command, CompareOptions& options) {
    auto const add_text = [&](std::string const& name, std::string const& placeholder,
                              std::string const& description, std::string& value) {
        add_option_value(command, name, placeholder, description,
                         [&value](std::string const& text) { value = text; });
    };
    command
        .add_option_function<std::vector<std::string>>(
            "--vary",
            [&options](std::vector<std::string> const& texts) {
                for (std::string const& text : texts) take_variation(options, text);
            },
            wrapped("compare these values of an option: schedule=static,dynamic or threads=1,2,4; given "
                    "several times, every combination is run. NAME is schedule, alloc, threads, split, push, "
                    "select, ordering, factorization, max-block-width, any other setting of the library, or "
                    "with --simulate processes",
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
    add_text("--simulate", "MACHINE",
             "run nothing: simulate every combination on a machine that need not be here: as "
             "'espalier simulate --machine', or here",
             options.simulate);
    add_option_value(command, "--processes", "P", "with --simulate: so many processes [1]",
                     [&options](std::string const& text) {
                         options.run.processes =
                             static_cast<int>(parse_count("--processes", text, 1, 1 << 20));
                     });
    add_text("--csv", "FILE", "write the table as comma-separated values (- is standard output)",
             options.csv);
    add_text("--json", "FILE", "write the table as JSON, with every run (- is standard output)",
             options.run.json);
    add_text("--picture", "FILE",
             "draw the times as bars: an SVG file when its name ends in .svg, PNG for .png", options.picture);
    command.add_flag("--quiet", options.run.quiet, "print nothing but errors");
}

void check(CompareOptions const& options) {
    if (options.vary.empty())
        throw Error(Status::usage, "nothing to compare: give --vary, as in --vary schedule=static,dynamic");
    refuse_set_and_varied(options);
    for (CompareCase const& one : compare_cases(options)) check(one.run);
    if (options.run.processes && !options.is_simulated())
        throw Error(Status::usage, "--processes goes with --simulate only");
    if (options.is_simulated() && !options.run.library.topology.empty())
        throw Error(Status::usage, "--simulate and --topology both name a machine");
    if (!options.picture.empty() && !options.picture.ends_with(".svg") && !options.picture.ends_with(".png"))
        throw Error(Status::usage, fmt::format("--picture '{}' has to end in .svg or .png", options.picture));
    refuse_colliding_outputs(options);
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
