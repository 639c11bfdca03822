// What `espalier dense` is asked for.
#pragma once

#include <string>

#include "espalier/options.hpp"
#include "tools/dense/tile_grid.hpp"

namespace CLI {
class App;
}

namespace espalier::command {

struct DenseOptions {
    DenseKind kind = DenseKind::cholesky;
    TileGrid grid{4000, 256};
    Options library; ///< Of it the policy, threads, allocation and topology.
    int repeat = 3;
    double tolerance = 1e-12;
    std::string trace; ///< Empty: none asked for; "-": standard output.
    std::string json;  ///< The same.
    bool quiet = false;

    [[nodiscard]] bool prints() const { return !quiet && json != "-" && trace != "-"; }
};

void add_dense_options(CLI::App& command, DenseOptions& options);

/// Checks that go beyond one option's text. Error{usage}.
void check(DenseOptions const& options);

std::string dense_help();

} // namespace espalier::command
