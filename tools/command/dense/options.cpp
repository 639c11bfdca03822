#include "options.hpp"

#include <array>

#include <fmt/format.h>

#include "tools/command/common/numbers.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/solve/options.hpp"
#include "tools/dense/tile_tasks.hpp"

namespace espalier::command {

namespace {

constexpr std::int64_t most_tasks = 4'000'000; // about 100 bytes each

constexpr std::array<char const*, 2> kinds{"cholesky", "qr"}; // in the order of DenseKind

} // namespace

void declare_dense(OptionSet& set, DenseOptions& options) {
    set.group("Matrix");
    set.choice({"--kernel", "KIND", "factorization [cholesky]"}, kinds,
               [&options](std::size_t k) { options.kind = static_cast<DenseKind>(k); });
    set.count({"--n", "N", "order of the matrix [4000]"}, options.grid.n, 1, 1'000'000);
    set.count({"--tile", "B", "order of its tiles [256]"}, options.grid.tile, 1, 20'000);
    set.count({"--repeat", "R", "factorizations, each of a new matrix; the median counts [3]"},
              options.repeat, 1, 10'000);
    set.value(
        {"--tolerance", "E", "error at which the factorization counts as correct [1e-12]"},
        [&options](std::string const& text) { options.tolerance = parse_positive("--tolerance", text); });
    set.library(options.library, subcommand::dense);
    add_trace(set, options.trace, "the last factorization");
    add_json(set, options.json, "numbers");
    add_quiet(set, options.quiet);
}

void check(DenseOptions const& options) {
    std::int64_t const count = (options.grid.n + options.grid.tile - 1) / options.grid.tile;
    if (num_tile_tasks(options.kind, count) > most_tasks)
        throw Error(
            Status::usage,
            fmt::format("--n {} and --tile {} make {} x {} tiles and more than {} tasks; take larger tiles",
                        options.grid.n, options.grid.tile, count, count, with_separators(most_tasks)));
    refuse_same_files({{"--json", options.json}, {"--trace", options.trace}},
                      {{"--topology", machine_file(options.library.topology)}});
}

std::string dense_help() {
    return R"(Examples:
  espalier dense --kernel cholesky --n 8000 --tile 256
  espalier dense --kernel qr --schedule places --push pNumaW --select sProcNuma --strict
  espalier dense --schedule nas --topology 'numa:2 core:4' --n 2000 --tile 100
  espalier dense --threads 2 --trace run.paje && espalier trace run.paje --png run.png

Factorizes a random dense matrix in tiles, with the threads and policies that factorize sparse
matrices, to compare schedules on a simple task graph. All policies give the same bits. The error is
|A - L L^T| / |A|, or the larger of |A - Q R| / |A| and |I - Q^T Q| / sqrt(n), estimated with random
vectors; the exit code is 7 if it is above the tolerance.
)";
}

} // namespace espalier::command
