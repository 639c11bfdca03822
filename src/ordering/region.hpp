// A piece of the graph under nested dissection, with the ring of already numbered vertices around it:
//
//      +-----------+---+        interior: vertices still to be numbered, 0 .. num_interior
//      | interior  | h |        halo: their neighbours outside, num_interior .. num_vertices
//      +-----------+ a |
//      |   h a l o     |        Edges between two halo vertices are left out.
//      +---------------+
//
// The halo lets minimum degree on the leaves see true degrees (Pellegrini, Roman, Amestoy 2000).
#pragma once

#include <span>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

struct Region {
    Index num_interior = 0;
    std::vector<Offset> ptr{0};       ///< num_vertices() + 1 entries.
    std::vector<Offset> interior_end; ///< Interior v: its interior neighbours end here in adj, halo follows.
    std::vector<Index> adj;
    std::vector<Index> weight; ///< Empty when all are 1.
    std::vector<Index> origin; ///< The vertex of the whole graph.

    [[nodiscard]] Index num_vertices() const { return static_cast<Index>(origin.size()); }
    [[nodiscard]] Index weight_of(Index v) const { return weight.empty() ? 1 : weight[v]; }
    /// Directed edges between interior vertices.
    [[nodiscard]] Offset interior_edges() const;
};

/// The whole graph, without halo; weights as balance_weights makes them for 32-bit libraries.
Region whole_region(Graph const& graph);

/// The region whose interior is `inside` (interior vertices of `parent`, ascending) and whose halo is all
/// their other neighbours in `parent`. `scratch` holds a -1 for each vertex of the parent, before and after.
/// Time linear in `inside` and its edges.
Region induce(Region const& parent, std::span<Index const> inside, std::vector<Index>& scratch);

/// The connected component of each interior vertex, numbered by their first vertex; halo ignored.
std::vector<Index> components(Region const& region, Index& num_components);

} // namespace espalier
