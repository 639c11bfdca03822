// The methods of ordering.cpp. Each takes a graph with at least two vertices and one edge, and returns
// perm[old] = new.
#pragma once

#include <string>
#include <vector>

#include "core/graph.hpp"
#include "core/interrupt.hpp"

namespace espalier {

/// Nested dissection with separators by SCOTCH. The result does not depend on the number of threads.
std::vector<Index> order_by_scotch(Graph const& graph, int threads, Interrupt* interrupt);

/// Nested dissection with separators of our own (multilevel_cut.hpp) and minimum degree with halo on the
/// leaves. The result does not depend on the number of threads. Error{unsupported} for 2^30 vertices or more;
/// Error{cancelled}.
std::vector<Index> order_by_dissection(Graph const& graph, int threads, Interrupt* interrupt);

/// Ordering by SCOTCH with a strategy string, without weights. Uses one thread if `deterministic`; otherwise
/// the result varies with the number of threads. Throws Error{usage} if SCOTCH rejects the string.
std::vector<Index> order_by_scotch_strategy(Graph const& graph, std::string const& strategy, int threads,
                                            bool deterministic);

/// Nested dissection by METIS_NodeND (Karypis and Kumar 1998), on one thread with a fixed seed.
std::vector<Index> order_by_metis(Graph const& graph);

} // namespace espalier
