#include "options.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/checks.hpp"
#include "core/suggest.hpp"
#include "generators/generators.hpp"
#include "runtime/other_runtime.hpp"

namespace espalier::command {

namespace {

constexpr std::array<std::string_view, 2> generated_right_hand_sides{"ones", "random"};

[[noreturn]] void refuse_together(std::string const& one, std::string const& other, std::string_view reason) {
    throw Error(Status::usage, fmt::format("{} cannot be combined with {}: {}", one, other, reason));
}

// Error{usage} for options that incomplete factors do not have, {unsupported} for a runtime that this build
// does not have.
void check_incomplete(RunOptions const& run) {
    Options const& library = run.library;
    if (library.method != SolveMethod::ilu) return;
    std::string const ilu = "--method ilu";
    for (auto const& [option, is_given] : {std::pair{"--condition", library.condition},
                                           {"--mixed-precision", library.mixed_precision},
                                           {"--null-space", !run.null_space.empty()}})
        if (is_given) refuse_together(option, ilu, "it needs complete factors");
    Factorization const kind = library.factorization;
    if (kind != Factorization::automatic && kind != Factorization::llh && kind != Factorization::lu)
        refuse_together(fmt::format("--factorization {}", to_string(kind)), ilu,
                        "an incomplete factorization needs auto, llh or lu");
    require_runtime(library.runtime);
}

// A text that is neither one of the words that an option accepts nor a file.
[[noreturn]] void refuse_name(std::string_view option, std::string const& name, std::string_view kind,
                              std::span<std::string_view const> words, std::string const& reason) {
    throw Error(Status::io_error,
                fmt::format("{} '{}' is neither {} ({}) nor a readable file: {}{}", option, name, kind,
                            fmt::join(words, ", "), reason, did_you_mean(name, words)));
}

// Error{io_error} for files that cannot be read.
void check_inputs(RunOptions const& run) {
    if (!is_generated_rhs(run.rhs))
        if (std::string const reason = why_unreadable(run.rhs); !reason.empty())
            refuse_name("--rhs", run.rhs, "a generated right-hand side", generated_right_hand_sides, reason);
    require_readable({{"--topology", machine_file(run.library.topology)}});
    std::string const& ordering = run.library.ordering_file;
    if (run.library.ordering != OrderingMethod::user) return;
    auto const choices = option_row("ordering").choices;
    if (std::string const reason = why_unreadable(ordering); !reason.empty())
        refuse_name("--ordering", ordering, "a method",
                    std::vector<std::string_view>(choices.begin(), choices.end()), reason);
}

} // namespace

bool is_generated_rhs(std::string const& rhs) {
    return std::ranges::count(generated_right_hand_sides, rhs) > 0;
}

void add_matrix(OptionSet& set, RunOptions& run) {
    set.positional(
        "MATRIX",
        "Matrix Market, Rutherford-Boeing or Harwell-Boeing file (also .gz), - for standard input, or a "
        "generator such as lap3d:60",
        run.matrix);
    set.group("System");
    set.choice({"--precision", "LETTER",
                "single or double, real or complex [d for a real matrix, z for a complex one]"},
               run.precision);
}

void add_right_hand_sides(OptionSet& set, RunOptions& run) {
    set.group("System");
    set.choice({"--operation", "OP", "solve A x = b, A^T x = b or A^H x = b [none]"}, run.op);
    set.text(
        {"--rhs",
         "FILE|ones|random",
         "right-hand sides: a Matrix Market array, all ones, or uniform in [-1, 1] from a fixed seed [ones]",
         {"ones", "random"}},
        run.rhs);
    set.count({"--nrhs", "K", "number of right-hand sides [1, or the columns of the file]"}, run.nrhs, 1,
              1'000'000);
}

void add_input(OptionSet& set, RunOptions& run) {
    static constexpr std::array<char const*, 2> ways{"root", "distributed"};
    set.group("System");
    set.choice(
        {"--input", "HOW",
         "how processes under mpirun read the matrix and the right-hand sides: the first process reads "
         "them, or each process reads its part of a Matrix Market file, to which all need access [root]"},
        ways, [&run](std::size_t way) { run.read_by_parts = way == 1; });
}

void add_json(OptionSet& set, std::string& json, std::string const& what) {
    set.group("Output");
    set.text({"--json", "FILE", fmt::format("write the {} as JSON (- is standard output)", what)}, json);
}

void add_quiet(OptionSet& set, bool& quiet) {
    set.group("Output");
    set.flag({"--quiet", "", "print only errors"}, quiet);
}

void add_verbose(OptionSet& set, bool& verbose) {
    set.group("Output");
    set.flag({"--verbose", "", "also print the settings, the machine and the choices made"}, verbose);
}

void add_trace(OptionSet& set, std::string& trace, std::string const& what) {
    set.group("Output");
    set.text(
        {"--trace", "FILE",
         fmt::format(
             "write {} as a Paje trace for ViTE and 'espalier trace' (compressed if FILE ends in .gz; - is "
             "standard output)",
             what)},
        trace);
}

void add_picture(OptionSet& set, std::string& picture, std::string const& what) {
    set.group("Output");
    set.text(
        {"--picture", "FILE", fmt::format("draw {}: an SVG file if FILE ends in .svg, PNG for .png", what)},
        picture);
}

void add_processes(OptionSet& set, std::optional<int>& processes, std::string const& help) {
    set.group("Machine");
    set.count({"--processes", "P", help}, processes, 1, most_processes);
}

OptionRow simulated_threads() {
    OptionRow row = option_row("threads");
    row.most = most_simulated_threads;
    row.automatic = "the cores of the machine";
    return row;
}

std::string machine_file(std::string const& name) {
    return name.ends_with(".json") || name.ends_with(".xml") ? name : "";
}

std::vector<NamedPath> input_files(RunOptions const& run) {
    return {{"the matrix", is_generator(run.matrix) ? "" : run.matrix},
            {"--rhs", is_generated_rhs(run.rhs) ? "" : run.rhs},
            {"--topology", machine_file(run.library.topology)},
            {"--ordering", run.library.ordering_file}};
}

void check(RunOptions const& run) {
    if (run.op != MatrixOp::none && !run.null_space.empty())
        throw Error(Status::usage,
                    fmt::format("--null-space needs A x = b; it cannot be combined with --operation {}",
                                to_string(run.op)));
    check_incomplete(run);
    if (run.library.refine == RefineMethod::cg && run.library.factorization == Factorization::lu)
        refuse_together("--refine cg", "--factorization lu", "cg needs a symmetric factorization");
    if (std::int64_t{run.processes.value_or(1)} * std::max(run.library.threads, 1) > most_processes)
        throw Error(Status::usage, fmt::format("--processes {} and --threads {} make more than {} workers",
                                               *run.processes, run.library.threads, most_processes));
    require_block_widths(run.library, "--");
    if (run.quiet && run.verbose) throw Error(Status::usage, "--quiet and --verbose contradict each other");
    refuse_same_files({{"--json", run.json},
                       {"--output", run.output},
                       {"--null-space", run.null_space},
                       {"--trace", run.trace}},
                      input_files(run));
    check_inputs(run);
}

void check_picture(std::string const& picture) {
    if (!picture.empty() && !picture.ends_with(".svg") && !picture.ends_with(".png"))
        throw Error(Status::usage, fmt::format("--picture '{}' must end in .svg or .png", picture));
}

} // namespace espalier::command
