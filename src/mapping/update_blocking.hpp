// How update kernels cut up their work: the kernels (factor/update.cpp) and what predicts their times
// (cost_model.cpp) count by the same numbers.
#pragma once

#include "espalier/types.hpp"

namespace espalier {

/// Columns of one product: a strip of so many, each from its own first row on.
inline constexpr Index strip_width = 128;
/// Runs of rows at least so high are updated in place, others by way of a buffer.
inline constexpr Index direct_run_height = 32;

} // namespace espalier
