// The runs of a comparison: each fills the rows of `record`, one a case. A case that fails is a row that says
// so; only what concerns all cases is thrown.
#pragma once

#include <functional>
#include <vector>

#include "core/progress.hpp"
#include "espalier/matrix.hpp"
#include "record.hpp"

namespace espalier::command {

/// Factorizes, solves and refines every case once, then all again, options.repeat times. Errors of the
/// right-hand sides.
void measure_cases(CompareRecord& record, std::vector<CompareCase> cases, AnyMatrix&& matrix,
                   ProgressSink& progress);

/// Simulates every case on the machine asked for.
void simulate_cases(CompareRecord& record, std::vector<CompareCase> const& cases, AnyMatrix&& matrix,
                    ProgressSink& progress);

/// Calls `body`. When that fails the row says why, and the result is false.
bool attempt(CompareRow& row, std::function<void()> const& body);

} // namespace espalier::command
