// A piece of the graph under nested dissection, with the ring of already numbered vertices around it:
//
//      +-----------+---+        interior: vertices still to be numbered, 0 .. num_interior
//      | interior  | h |        halo: their neighbours outside, num_interior .. num_vertices
//      +-----------+ a |
//      |   h a l o     |        Edges between two halo vertices are left out.
//      +---------------+
//
// The halo lets the minimum degree method on the leaves see true degrees (Pellegrini, Roman, Amestoy 2000).
// Everything is in SCOTCH's integers; the caller of whole() has made sure that they suffice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <stdio.h> // scotch.h needs FILE

#include <scotch.h>

#include "core/graph.hpp"

namespace espalier {

struct Region {
    using Num = SCOTCH_Num;

    Num num_interior = 0;
    std::vector<Num> ptr{0};       ///< num_vertices() + 1 entries.
    std::vector<Num> interior_end; ///< Neighbours of interior v: inside adj[ptr[v] .. interior_end[v]), then halo.
    std::vector<Num> adj;
    std::vector<Num> weight;       ///< Empty when all are 1.
    std::vector<Num> origin;       ///< The vertex of the whole graph.

    [[nodiscard]] Num num_vertices() const { return static_cast<Num>(origin.size()); }
    [[nodiscard]] Num weight_of(Num v) const { return weight.empty() ? 1 : weight[static_cast<std::size_t>(v)]; }
    /// Directed edges between interior vertices.
    [[nodiscard]] Num interior_edges() const;
};

/// The whole graph, without halo. Error{unsupported} when it does not fit SCOTCH's integers.
Region whole_region(Graph const& graph);

/// The region whose interior is `inside` (interior vertices of `parent`, ascending) and whose halo is all their
/// neighbours in `parent` that are not. Time linear in the parent's vertices plus the edges of `inside`.
Region induce(Region const& parent, std::span<Region::Num const> inside);

/// The connected component of each interior vertex, numbered by their first vertex; halo ignored.
std::vector<Region::Num> components(Region const& region, Region::Num& num_components);

} // namespace espalier
