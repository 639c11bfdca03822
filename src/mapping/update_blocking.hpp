// The block sizes of update kernels, which the kernels (factor/update.cpp) and the cost model share.
#pragma once

#include "espalier/types.hpp"

namespace espalier {

/// Columns of one product of a symmetric update: each strip of so many columns begins at its own first row.
inline constexpr Index strip_width = 128;
/// Runs of at least so many rows are updated in place, shorter ones by way of a buffer.
inline constexpr Index direct_run_height = 32;

} // namespace espalier
