// Reverse Cuthill-McKee: an ordering with a small bandwidth, for incomplete factorizations. It is not
// fill-reducing for complete factors.
#pragma once

#include "ordering/ordering.hpp"

namespace espalier {

/// Numbers each connected component breadth first, neighbors by ascending degree, from a vertex that is far
/// from others, and reverses the numbers [Cuthill, McKee 1969; George, Liu 1979]. Weights are ignored. The
/// components keep the order of their lowest vertices, reversed. Linear, except for sorting the neighbors of
/// each vertex.
Ordering order_by_rcm(Graph const& graph);

} // namespace espalier
