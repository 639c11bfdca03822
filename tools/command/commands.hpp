// The commands: each takes its parsed options, prints, writes its files, and throws espalier::Error for
// whatever ends it otherwise.
#pragma once

#include "tools/command/compare/options.hpp"
#include "tools/command/dense/options.hpp"
#include "tools/command/simulate/options.hpp"
#include "tools/command/solve/options.hpp"
#include "tools/command/trace/options.hpp"

namespace espalier::command {

void solve(RunOptions const& options);
void analyze(RunOptions const& options);
void compare(CompareOptions const& options);
void simulate(SimulateOptions const& options);
void generate(GenerateOptions const& options);
void trace(TraceOptions const& options);
void machine(MachineOptions const& options);
void dense(DenseOptions const& options);

} // namespace espalier::command
