// The block structures on which kernels are timed: a cubic lattice with 7-point stencils and one unknown per
// point, one with 27-point stencils and three unknowns per point, and a plane with 9-point stencils and one
// unknown per point. They are ordered and split as in a solve, so that panels and updates have the sizes, and
// memory has the distances, of real ones.
#pragma once

#include <vector>

#include "factor/factor.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

/// Limits for each lattice: two cubes of 6^3 to 48^3 points, and a plane that needs less.
struct TimingLimits {
    double bytes = 0;      ///< The panels need this memory.
    double operations = 0; ///< The factorization needs these; a multiply-add counts as two.
};
std::vector<BlockStructure> timing_structures(FactorForm form, std::size_t scalar_bytes,
                                              TimingLimits const& limits);

} // namespace espalier
