// Orderings with a set of vertices that must come last. Input: a constrained graph; output: a fill-reducing
// ordering of the other vertices, the interior, followed by these vertices.
#pragma once

#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"

namespace espalier {

/// The subgraph of the interior vertices in their order.
Graph interior_graph(ConstrainedGraph const& graph);

/// Orders the interior like compute_ordering(), followed by the last vertices in ascending order, or in their
/// order in the user's ordering. The methods natural and user require uncompressed_with_last(). Throws the
/// errors of compute_ordering().
Ordering order_with_last(ConstrainedGraph const& graph, OrderingOptions const& options);

} // namespace espalier
