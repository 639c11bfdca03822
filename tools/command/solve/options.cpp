#include "options.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "analysis/checks.hpp"
#include "core/suggest.hpp"
#include "generators/generators.hpp"

namespace espalier::command {

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
    set.choice({"--input", "HOW",
                "under mpirun, the first process reads the matrix and the right-hand sides, or each process "
                "reads its part of a Matrix Market file, which all processes must see [root]"},
               ways, [&run](std::size_t way) { run.read_by_parts = way == 1; });
}

void add_json(OptionSet& set, std::string& json, std::string const& what) {
    set.group("Output");
    set.text({"--json", "FILE", fmt::format("write the {} as JSON (- is standard output)", what)}, json);
}

void add_quiet(OptionSet& set, bool& quiet) {
    set.group("Output");
    set.flag({"--quiet", "", "print nothing but errors"}, quiet);
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
            {"--rhs", run.rhs == "ones" || run.rhs == "random" ? "" : run.rhs},
            {"--topology", machine_file(run.library.topology)},
            {"--ordering", run.library.ordering_file}};
}

void check(RunOptions const& run) {
    if (run.op != MatrixOp::none && !run.null_space.empty())
        throw Error(Status::usage,
                    fmt::format("--null-space needs A x = b; it cannot be combined with --operation {}",
                                to_string(run.op)));
    require_block_widths(run.library, "--");
    if (run.quiet && run.verbose) throw Error(Status::usage, "--quiet and --verbose contradict each other");
    refuse_same_files({{"--json", run.json},
                       {"--output", run.output},
                       {"--null-space", run.null_space},
                       {"--trace", run.trace}},
                      input_files(run));
    if (run.library.ordering == OrderingMethod::user &&
        access(run.library.ordering_file.c_str(), R_OK) != 0) {
        constexpr std::array<std::string_view, 6> methods{"dissection", "scotch",  "metis",
                                                          "amd",        "natural", "rcm"};
        std::string const reason = std::generic_category().message(errno);
        throw Error(Status::io_error,
                    fmt::format("--ordering '{0}' is neither a method ({1}) nor a readable file: {2}{3}",
                                run.library.ordering_file, fmt::join(methods, ", "), reason,
                                did_you_mean(run.library.ordering_file, methods)));
    }
}

void check_picture(std::string const& picture) {
    if (!picture.empty() && !picture.ends_with(".svg") && !picture.ends_with(".png"))
        throw Error(Status::usage, fmt::format("--picture '{}' must end in .svg or .png", picture));
}

} // namespace espalier::command
