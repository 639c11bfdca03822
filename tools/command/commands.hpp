// The commands: each takes its parsed options, prints, writes its files, and throws espalier::Error for
// whatever ends it otherwise.
#pragma once

#include "options.hpp"

namespace espalier::command {

void solve(RunOptions const& options);
void analyze(RunOptions const& options);
void generate(GenerateOptions const& options);
void machine(MachineOptions const& options);

} // namespace espalier::command
