// The subcommands, in the order of the help.
#pragma once

#include "tools/command/common/subcommand.hpp"

namespace espalier::command {

Subcommand solve_command();
Subcommand analyze_command();
Subcommand compare_command();
Subcommand simulate_command();
Subcommand generate_command();
Subcommand trace_command();
Subcommand machine_command();
Subcommand dense_command();

} // namespace espalier::command
