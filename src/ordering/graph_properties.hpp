// Properties of graphs by which the analysis chooses between orderings.
#pragma once

#include "core/graph.hpp"

namespace espalier {

/// Approximate seconds of the method `dissection` on one thread.
double predicted_dissection_seconds(Graph const& graph);

/// The operations of Cholesky after a dissection, estimated from the size of one separator; infinity if none
/// is found. Dissections of meshes take 0.1 to 2 times as many. Error{unsupported} for 2^30 vertices or more.
double estimated_dissection_work(Graph const& graph);

/// The operations of Cholesky for a full band matrix with as many rows, and as many neighbors of each row, as
/// the rows of the graph have on average.
double full_band_flops(Graph const& graph);

/// Whether a vertex has more than `times_average` times as many neighbors as the average. With 10 this holds
/// for many circuits, of which minimum degree often finds the better orderings.
bool has_hubs(Graph const& graph, Offset times_average);

/// Whether a graph is like networks and triangulations in the plane, for which minimum degree is nearly as
/// good as dissection. Its vertices have fewer than six neighbors on average, and a shortest path between two
/// of them has at least a third of the square root of the number of vertices in their connected component.
/// Meshes in space have shorter paths; grids in space do not, unless they are very large. Linear.
bool has_long_paths(Graph const& graph);

} // namespace espalier
