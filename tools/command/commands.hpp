// The commands: each takes its parsed options, prints, writes its files, and throws espalier::Error for
// whatever ends it otherwise.
#pragma once

#include "compare_options.hpp"
#include "dense_options.hpp"
#include "options.hpp"
#include "simulate_options.hpp"
#include "trace_options.hpp"

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
