// What ordering.cpp dispatches to. Each takes a graph with at least two vertices and one edge, and returns
// perm[old] = new over its vertices. Weights are honoured where the method knows how to (AMD does not).
#pragma once

#include <string>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// Nested dissection on SCOTCH's separators, run by `threads` threads; the result does not depend on them.
std::vector<Index> order_by_scotch(Graph const& graph, int threads);

/// SCOTCH's own ordering driver under a strategy string of the caller: one thread, or `threads` threads and
/// a result that varies with them when not `deterministic`. Error{usage} when SCOTCH rejects the string.
std::vector<Index> order_by_scotch_strategy(Graph const& graph, std::string const& strategy, int threads,
                                            bool deterministic);

/// METIS_NodeND (Karypis and Kumar 1998), always on one thread and with the same seed.
std::vector<Index> order_by_metis(Graph const& graph);

/// Approximate minimum degree (Amestoy, Davis and Duff 1996).
std::vector<Index> order_by_amd(Graph const& graph);

/// The weights of `graph` for a library that adds them up in an integer type of its own and stays sound
/// while the sum is at most `limit` >= num_vertices: all >= 1, scaled down together when they are too
/// large, empty when they are all equal. They only steer balance, so rounding is harmless.
std::vector<Index> balance_weights(Graph const& graph, Index limit);

} // namespace espalier
