// The runs of a comparison. They fill `record`, one row for each case. The row of a case that fails has its
// error; only errors of all cases are thrown.
#pragma once

#include <functional>
#include <vector>

#include "core/progress.hpp"
#include "espalier/matrix.hpp"
#include "record.hpp"

namespace espalier::command {

/// Factorizes, solves and refines each case once, and repeats this options.repeat times. Throws errors of the
/// right-hand sides.
void measure_cases(CompareRecord& record, std::vector<CompareCase> cases, AnyMatrix&& matrix,
                   ProgressSink& progress);

/// Simulates each case on the machine of --simulate.
void simulate_cases(CompareRecord& record, std::vector<CompareCase> const& cases, AnyMatrix&& matrix,
                    ProgressSink& progress);

/// Calls `body`. If it throws, stores the error in the row and returns false.
bool attempt(CompareRow& row, std::function<void()> const& body);

} // namespace espalier::command
