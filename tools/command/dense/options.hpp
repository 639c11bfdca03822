// The options of `espalier dense`.
#pragma once

#include <string>

#include "tools/command/common/option_set.hpp"
#include "tools/dense/tile_grid.hpp"

namespace espalier::command {

struct DenseOptions {
    DenseKind kind = DenseKind::cholesky;
    TileGrid grid{4000, 256};
    Options library; ///< Only schedule, threads, allocation and topology are used.
    int repeat = 3;
    double tolerance = 1e-12;
    std::string trace; ///< Empty: none; "-": standard output.
    std::string json;  ///< Empty: none; "-": standard output.
    bool quiet = false;

    [[nodiscard]] bool prints() const { return !quiet && json != "-" && trace != "-"; }
};

void declare_dense(OptionSet& set, DenseOptions& options);

/// Checks that concern several options. Error{usage}.
void check(DenseOptions const& options);

std::string dense_help();

} // namespace espalier::command
