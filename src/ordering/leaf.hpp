// Orders the leaves of nested dissection, which are small regions, by minimum degree with halo.
#pragma once

#include <vector>

#include "ordering/region.hpp"

namespace espalier {

/// The position 0 .. num_interior - 1 of each interior vertex. Regions with up to 256 interior vertices are
/// ordered by exact external minimum degree in interior and halo (Tinney and Walker 1967; Pellegrini, Roman,
/// Amestoy 2000) with weights; ties go to the lower number. Larger regions are ordered by AMD on the interior
/// alone.
std::vector<Index> order_leaf(Region const& region);

} // namespace espalier
