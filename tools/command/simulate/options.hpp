// What `espalier simulate` is asked for.
#pragma once

#include <string>

#include "tools/command/solve/options.hpp"

namespace espalier::command {

struct SimulateOptions {
    RunOptions run;               ///< threads, schedule, alloc and split are those of the simulated run.
    std::string machine = "here"; ///< As Simulation::machine.
};

void add_simulate_options(CLI::App& command, SimulateOptions& options);

/// Checks that go beyond one option's text. Error{usage}, {io_error}.
void check(SimulateOptions const& options);

std::string simulate_help();

} // namespace espalier::command
