// An artificial block structure for kernel timings, with the shapes that nested dissection gives: dense
// fronts of some tens to some thousands of columns, split into cblks, and below each front cblks that update
// it. Below a small front these are narrow and have many short runs of rows; below a large one they are as
// wide as cblks get and have few.
#pragma once

#include "factor/factor.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

struct TimingLimits {
    double bytes = 256e6; ///< Approximate size of all panels.
    double flops = 20e9;  ///< Approximate operations to factorize them, counted as for real scalars.
};

/// Has fronts of all sizes that fit within the limits, and at least small ones. Deterministic. Members that
/// only solves and assembly read are empty.
BlockStructure make_timing_structure(FactorForm form, std::size_t scalar_bytes, TimingLimits const& limits);

} // namespace espalier
