// What ordering.cpp dispatches to. Each takes a graph with at least two vertices and one edge, and returns
// perm[old] = new over its vertices. Weights are honoured where the method knows how to (AMD does not).
#pragma once

#include <string>
#include <vector>

#include "core/graph.hpp"
#include "core/interrupt.hpp"

namespace espalier {

/// Nested dissection on SCOTCH's separators, run by `threads` threads; the result does not depend on them.
std::vector<Index> order_by_scotch(Graph const& graph, int threads, Interrupt* interrupt = nullptr);

/// SCOTCH's own ordering driver under a strategy string of the caller, weights ignored: one thread, or
/// `threads` threads and a result that varies with them when not `deterministic`. Error{usage} when SCOTCH
/// rejects the string.
std::vector<Index> order_by_scotch_strategy(Graph const& graph, std::string const& strategy, int threads,
                                            bool deterministic);

/// METIS_NodeND (Karypis and Kumar 1998), always on one thread and with the same seed.
std::vector<Index> order_by_metis(Graph const& graph);

/// Approximate minimum degree (Amestoy, Davis and Duff 1996).
std::vector<Index> order_by_amd(Graph const& graph);

/// The weights of `graph` as a dissection needs them: integers in 1 .. 64 with a sum of at most `limit` >=
/// num_vertices, in proportion as far as that allows; empty when they are all equal. They only steer balance,
/// so rounding is harmless, but a vertex that outweighs a whole region is not: METIS 5.1 then recurses
/// without end.
std::vector<Index> balance_weights(Graph const& graph, Index limit);

} // namespace espalier
