#include "options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "solver/parse_value.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/option_value.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/solve/options.hpp"
#include "tools/dense/tile_tasks.hpp"

namespace espalier::command {

namespace {

constexpr std::int64_t most_tasks = 4'000'000; // some 100 bytes each

DenseKind parse_kind(std::string const& text) {
    for (DenseKind const kind : {DenseKind::cholesky, DenseKind::qr})
        if (text == to_string(kind)) return kind;
    throw Error(Status::usage, fmt::format("--kernel has no value '{}'; it has cholesky, qr", text));
}

} // namespace

void add_dense_options(CLI::App& command, DenseOptions& options) {
    auto const add = [&command](auto&&... arguments) { add_option_value(command, arguments...); };
    add("--kernel", "KIND", "cholesky or qr [cholesky]",
        [&options](std::string const& text) { options.kind = parse_kind(text); });
    add("--n", "N", "order of the matrix [4000]",
        [&options](std::string const& text) { options.grid.n = parse_count("--n", text, 1, 1'000'000); });
    add("--tile", "B", "order of its tiles [256]",
        [&options](std::string const& text) { options.grid.tile = parse_count("--tile", text, 1, 20'000); });
    add("--threads", "T", "worker threads [the cores this process may use]",
        [&options](std::string const& text) {
            options.library.threads = static_cast<int>(parse_count("--threads", text, 1, 4096));
        });
    add_policy_options(command, options.library);
    add_library_option(command, options.library, "--alloc", "POLICY",
                       "where the tiles live: global, local or interleave [local]");
    add("--topology", "MACHINE",
        "workers stand on the cores and NUMA nodes of another machine: a file of 'lstopo machine.xml', or a "
        "description such as 'numa:2 core:8' [here: this machine]",
        [&options](std::string const& text) {
            options.library.topology = parse_topology("--topology", text);
        });
    add("--repeat", "R", "factorize so often, each time anew; the median counts [3]",
        [&options](std::string const& text) {
            options.repeat = static_cast<int>(parse_count("--repeat", text, 1, 10'000));
        });
    add("--tolerance", "E", "error that counts as right [1e-12]",
        [&options](std::string const& text) { options.tolerance = parse_positive("--tolerance", text); });
    add("--trace", "FILE",
        "record the last factorization as a Paje trace (compressed when FILE ends in .gz; - is standard "
        "output)",
        [&options](std::string const& text) { options.trace = text; });
    add("--json", "FILE", "write the numbers as JSON (- is standard output)",
        [&options](std::string const& text) { options.json = text; });
    command.add_flag("--quiet", options.quiet, "print nothing but errors");
}

void check(DenseOptions const& options) {
    std::int64_t const count = (options.grid.n + options.grid.tile - 1) / options.grid.tile;
    if (num_tile_tasks(options.kind, count) > most_tasks)
        throw Error(
            Status::usage,
            fmt::format("--n {} and --tile {} make {} x {} tiles and more than {} tasks; take larger tiles",
                        options.grid.n, options.grid.tile, count, count, with_separators(most_tasks)));
    std::string const& machine = options.library.topology;
    NamedPath const outputs[] = {{"--json", options.json}, {"--trace", options.trace}},
                    input{"--topology", is_machine_file(machine) ? machine : ""};
    refuse_same_files(outputs, {&input, 1});
}

std::string dense_help() {
    return "Examples:\n"
           "  espalier dense --kernel cholesky --n 8000 --tile 256\n"
           "  espalier dense --kernel qr --schedule places --push pNumaW --select sProcNuma --strict\n"
           "  espalier dense --schedule nas --topology 'numa:2 core:4' --n 2000 --tile 100\n"
           "  espalier dense --threads 2 --trace run.paje && espalier trace run.paje --png run.png\n\n"
           "Factorizes a random dense matrix in tiles, by the threads and under the policies that factorize\n"
           "sparse ones: a place to compare schedules on a simple task graph. Each policy gives the same "
           "bits.\n"
           "The error is |A - L L^T| / |A|, or the larger of |A - Q R| / |A| and |I - Q^T Q| / sqrt(n), told "
           "by\n"
           "random vectors; exit code 7 when it is above the tolerance.\n";
}

} // namespace espalier::command
