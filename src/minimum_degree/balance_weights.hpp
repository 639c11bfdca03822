// Weights of vertices for libraries and graphs with 32-bit integers.
#pragma once

#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// The weights of `graph` for a dissection: integers in 1 .. 64 with a sum of at most `limit` >=
/// num_vertices, approximately proportional to the original weights; empty if all are equal. They only affect
/// the balance, so rounding does no harm. A weight larger than that of a whole region would make METIS 5.1
/// recurse without end.
std::vector<Index> balance_weights(Graph const& graph, Index limit);

} // namespace espalier
