// Dominated vertices of a graph: those with a neighbor that has all of their neighbors, and more. In finite
// elements of order two, the unknowns at the middles of edges are dominated by those at the ends. Separators
// follow from the cuts of the graph without them. (A data reduction before dissection, as those of Ost,
// Schulz and Strash 2021.)
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph.hpp"
#include "ordering/cut_graph.hpp"

namespace espalier {

/// The vertices that are not dominated.
struct Undominated {
    std::vector<Vertex> vertices;        ///< Ascending.
    std::vector<std::uint8_t> dominates; ///< Whether each of them dominates another vertex.
};

/// Every vertex that is left out is dominated by one of the others. Takes time linear in the edges. If more
/// would be needed, as with many large cliques that overlap, some dominated vertices are returned, too.
Undominated find_undominated(Graph const& graph);

} // namespace espalier
