// The options of `espalier compare`: declaration, checks and help.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/suggest.hpp"
#include "record.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/processes.hpp"

namespace espalier::command {

namespace {

constexpr std::size_t most_cases = 1000;

// The position of the next comma outside of parentheses, or the size of the text.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
    int depth = 0;
    for (std::size_t at = begin; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')') --depth;
        if (text[at] == ',' && depth <= 0) return at;
    }
    return text.size();
}

// NAME=VALUE,VALUE; commas inside of parentheses belong to the value.
Variation parse_variation(std::string const& text) {
    std::size_t const equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw Error(Status::usage,
                    fmt::format("--vary needs NAME=VALUE,VALUE, as in threads=1,2, not '{}'", text));
    Variation variation{text.substr(0, equals), {}};
    for (std::size_t begin = equals + 1; begin <= text.size();) {
        std::size_t const end = end_of_value(text, begin);
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

// Options that can be varied besides those of the library.
constexpr std::string_view processes = "processes", right_hand_sides = "nrhs";

// Settings without effect on a simulation. The table would suggest that they have one.
constexpr std::array<std::string_view, 17> without_effect = {
    "method",          "levels",   "block-size",      "coarsen",
    "runtime",         "topology", "refine",          "max-refine-iterations",
    "tolerance",       "bind",     "condition",       "record-trace",
    "pivot-threshold", "pivoting", "pivot-tolerance", "supernodes",
    right_hand_sides};

void require_name(std::string const& name) {
    auto names = option_names();
    names.insert(names.end(), {right_hand_sides, processes});
    if (std::ranges::count(names, name) > 0) return;
    if (name == "precision")
        throw Error(Status::usage, "--vary precision is not possible because all combinations share one "
                                   "matrix; run compare once for each --precision, or use --vary "
                                   "mixed-precision=on,off");
    throw Error(Status::usage, fmt::format("--vary {}: unknown option '{}'{}; the options are {}", name, name,
                                           did_you_mean(name, names), fmt::join(names, ", ")));
}

void set(RunOptions& run, std::string const& name, std::string const& value, bool simulated) {
    try {
        OptionRow const threads = simulated ? simulated_threads() : option_row("threads");
        if (name == processes)
            run.processes = static_cast<int>(parse_count(name, value, 1, most_processes));
        else if (name == right_hand_sides)
            run.nrhs = parse_count(name, value, 1, 1'000'000);
        else if (name == threads.name)
            threads.set(run.library, threads, value);
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

// What SchedulePolicy::automatic chooses.
constexpr std::array<std::string_view, 9> chosen_by_auto = {
    "split",     "split-width", "split-rows", "split-idle",         "split-seconds",
    "push-init", "push",        "select",     "subtrees-per-worker"};

// Whether some combination has several simulated processes.
bool has_messages(CompareOptions const& options) {
    auto const varied = std::ranges::find(options.vary, processes, &Variation::name);
    if (varied == options.vary.end()) return options.run.processes.value_or(1) > 1;
    return std::ranges::any_of(varied->values, [](std::string const& value) { return value != "1"; });
}

// Error{usage} for a varied option that is also given for all combinations, or has no effect on a simulation.
void check_variations(CompareOptions const& options) {
    for (Variation const& variation : options.vary) {
        require_name(variation.name);
        if (options.is_simulated() && std::ranges::count(without_effect, variation.name) > 0)
            throw Error(Status::usage,
                        fmt::format("--vary {} has no effect on a simulation: {}", variation.name,
                                    variation.name == "topology" ? "--simulate names the machine"
                                                                 : "nothing is factorized or solved"));
        if (options.is_simulated() && variation.name.starts_with("comm-") && !has_messages(options))
            throw Error(
                Status::usage,
                fmt::format("--vary {} has no effect on a simulation of one process; give --processes "
                            "or --vary processes",
                            variation.name));
        if (options.run.library.schedule == SchedulePolicy::automatic &&
            std::ranges::count(chosen_by_auto, variation.name) > 0)
            throw Error(Status::usage,
                        fmt::format("--vary {} has no effect with --schedule auto, which chooses it",
                                    variation.name));
        if (is_given(options.run, variation.name))
            throw Error(Status::usage,
                        fmt::format("--vary {0} and --{0} contradict each other", variation.name));
    }
}

void check_files(CompareOptions const& options) {
    std::vector<NamedPath> inputs = input_files(options.run);
    require_readable({{"--simulate", machine_file(options.simulate)}});
    inputs.push_back({"--simulate", machine_file(options.simulate)});
    for (Variation const& variation : options.vary)
        for (std::string const& value : variation.values)
            if (variation.name == "ordering" || variation.name == "topology")
                inputs.push_back(
                    {"--vary " + variation.name, variation.name == "ordering" ? value : machine_file(value)});
    refuse_same_files({{"--csv", options.csv}, {"--json", options.run.json}, {"--picture", options.picture}},
                      inputs);
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

void declare_compare(OptionSet& set, CompareOptions& options) {
    add_matrix(set, options.run);
    add_right_hand_sides(set, options.run);
    add_input(set, options.run);
    set.group("Comparison");
    OptionText vary{
        "--vary", "NAME=VALUE,...",
        "values of an option to compare: schedule=static,dynamic or threads=1,2,4; given several times, all "
        "combinations are run; NAME is any option of the library, nrhs, or processes (how many of those that "
        "mpirun started take part, or how many are simulated)"};
    for (std::string_view const name : option_names()) vary.choices.push_back(fmt::format("{}=", name));
    vary.choices.insert(vary.choices.end(), {"nrhs=", "processes="});
    set.value(vary, [&options](std::string const& text) { take_variation(options, text); }, true);
    set.count(
        {"--repeat", "R", "runs of each combination; combinations take turns, and the table has medians [3]"},
        options.repeat, 1, 10'000);
    set.text({"--simulate", "MACHINE",
              "simulate every combination on MACHINE instead of running it; spelled as for 'espalier "
              "simulate --machine', or 'here'"},
             options.simulate);
    for (OptionRow const& row : option_table())
        if ((row.subcommands & subcommand::compare) != 0)
            set.library(options.run.library, row.name == "threads" ? simulated_threads() : row);
    add_processes(set, options.run.processes,
                  "processes of those that mpirun started [all], or simulated [1]");
    set.group("Output");
    set.text({"--csv", "FILE", "write the table as comma-separated values (- is standard output)"},
             options.csv);
    add_json(set, options.run.json, "table, with every run,");
    add_picture(set, options.picture, "the times as bars");
    add_quiet(set, options.run.quiet);
}

void check(CompareOptions const& options) {
    if (options.vary.empty())
        throw Error(Status::usage, "nothing to compare: give --vary, as in --vary schedule=static,dynamic");
    check_variations(options);
    check_files(options);
    for (CompareCase const& one : compare_cases(options)) {
        check(one.run);
        int const wanted = one.run.processes.value_or(1);
        if (!options.is_simulated() && wanted > num_processes())
            throw Error(
                Status::usage,
                fmt::format("{} processes are needed, but {} started; start with 'mpirun -n {}', or name a "
                            "machine with --simulate",
                            wanted,
                            num_processes() == 1 ? "only one was"
                                                 : fmt::format("only {} were", num_processes()),
                            wanted));
    }
    if (options.is_simulated() && !options.run.library.topology.empty())
        throw Error(Status::usage, "--simulate and --topology both name a machine");
    check_picture(options.picture);
    OptionRow const& threads = option_row("threads");
    if (!options.is_simulated() && options.run.library.threads > threads.most)
        static_cast<void>(parse_count("--threads", get_option(options.run.library, "threads"), 1,
                                      threads.most, threads.unset));
}

std::string compare_help() {
    return R"(Examples:
  espalier compare lap3d:60 --vary schedule=static,dynamic --vary threads=1,2
  espalier compare a.mtx --vary split=1d,2d --schedule dynamic --repeat 7 --picture split.png
  espalier compare a.mtx --vary ordering=scotch,metis,amd --csv - --repeat 1
  espalier compare elast3d:48 --simulate 'numa:4 core:16' --vary schedule=static,dynamic \
                   --vary threads=1,16,64

Each combination is analyzed once, then factorized, solved and refined in turn with the others, so
that disturbances of the machine affect all of them. The table has the median, the fastest and the
slowest run, and the ratio of the median to that of the first row: below 1 is faster. Rows whose
ranges overlap may differ by chance.

If a combination fails, its row says so and the others go on. The exit code is that of the first
failure.
)";
}

} // namespace espalier::command
