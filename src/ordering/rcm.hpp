// Reverse Cuthill-McKee: an ordering with a small bandwidth, for incomplete factorizations and for complete
// factors of long narrow graphs. It is not fill-reducing for complete factors of other graphs.
#pragma once

#include <optional>

#include "ordering/ordering.hpp"

namespace espalier {

/// Numbers each connected component breadth first, neighbors by ascending degree, from a vertex that is far
/// from others, and reverses the numbers [Cuthill, McKee 1969; George, Liu 1979]. Weights are ignored. The
/// components keep the order of their lowest vertices, reversed. Linear, except for sorting the neighbors of
/// each vertex.
Ordering order_by_rcm(Graph const& graph);

/// Returns a reverse Cuthill-McKee order if a Cholesky factorization that fills the envelope of the matrix
/// rows takes at most about `most_flops` operations, and nothing otherwise. On large meshes the search stops
/// after a small part of the vertices. The start is the last vertex of a first order.
std::optional<Ordering> order_if_narrow(Graph const& graph, double most_flops);

} // namespace espalier
