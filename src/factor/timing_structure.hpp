// A made-up block structure to time kernels on, with the shapes that nested dissection gives: dense fronts
// from some tens to some thousands of columns, cut into cblks, and below each front other cblks that update
// it. Those below a small front are narrow and have many short runs of rows, those below a large one are as
// wide as cblks get and have few.
#pragma once

#include <vector>

#include "factor/factor.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

struct TimingLimits {
    double bytes = 256e6; ///< Of all panels.
    double flops = 20e9;  ///< To factorize them, as for real scalars. Both are kept to roughly.
};

/// Of all sizes of fronts that fit within the limits, but small ones at least. The same on every call. (What
/// only solves and assembly read is left empty.)
BlockStructure make_timing_structure(FactorForm form, std::size_t scalar_bytes, TimingLimits const& limits);

} // namespace espalier
