// Orderings with a set of vertices that has to come last. In: a constrained graph. Out: a fill-reducing order
// of the other vertices, the interior, followed by those.
#pragma once

#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"

namespace espalier {

/// The graph without its last vertices, the others in their order.
Graph interior_graph(ConstrainedGraph const& graph);

/// Orders the interior as compute_ordering would, and then the last vertices by ascending number (`user`: as
/// they follow each other in the file). `natural` and `user` need uncompressed_with_last. Throws what
/// compute_ordering throws.
Ordering order_with_last(ConstrainedGraph const& graph, OrderingOptions const& options);

} // namespace espalier
