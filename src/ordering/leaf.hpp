// The leaves of nested dissection: small regions numbered by minimum degree, the halo counted.
#pragma once

#include <vector>

#include "ordering/region.hpp"

namespace espalier {

/// The position of each interior vertex, 0 .. num_interior. Up to 256 interior vertices: exact external
/// minimum degree over interior and halo (Tinney and Walker 1967; Pellegrini, Roman, Amestoy 2000), weights
/// counted, ties to the lower number. Beyond that: SuiteSparse's AMD on the interior alone.
std::vector<Index> order_leaf(Region const& region);

} // namespace espalier
