// `espalier dense --simulate`: the factorization in virtual time on another machine.
#pragma once

#include "report.hpp"

namespace espalier::command {

/// Simulates, prints the report, and writes the JSON and the trace.
void simulate_dense(DenseOptions const& options);

} // namespace espalier::command
