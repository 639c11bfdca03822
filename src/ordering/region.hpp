// A part of the graph in nested dissection, with the already numbered vertices around it:
//
//      +-----------+---+        interior: vertices still to be numbered, 0 .. num_interior
//      | interior  | h |        halo: their neighbors outside, num_interior .. num_vertices
//      +-----------+ a |
//      |   h a l o     |        Edges between two halo vertices are not stored.
//      +---------------+
//
// With the halo, minimum degree on the leaves uses true degrees (Pellegrini, Roman, Amestoy 2000).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// A region. The neighbors of an interior vertex are its interior neighbors, followed by those in the halo.
struct Region {
    Index num_interior = 0;           ///< Number of interior vertices.
    std::vector<Offset> ptr{0};       ///< num_vertices() + 1 entries.
    std::vector<Offset> interior_end; ///< The end of the interior neighbors of each interior vertex in adj.
    std::vector<Index> adj;           ///< The neighbors of v are adj[ptr[v] .. ptr[v + 1]).
    std::vector<Index> weight;        ///< Empty if all are 1.
    std::vector<Index> origin;        ///< The number of each vertex in the whole graph.

    [[nodiscard]] Index num_vertices() const { return std::ssize(origin); }
    [[nodiscard]] std::span<Index const> neighbors(Index v) const {
        return {adj.data() + ptr[v], adj.data() + ptr[v + 1]};
    }
    [[nodiscard]] std::span<Index const> interior_neighbors(Index v) const {
        return {adj.data() + ptr[v], adj.data() + interior_end[v]};
    }
    [[nodiscard]] Index weight_of(Index v) const { return weight.empty() ? 1 : weight[v]; }
    /// Number of directed edges between interior vertices.
    [[nodiscard]] Offset interior_edges() const;
};

/// The whole graph without halo; weights come from balance_weights() for libraries with 32-bit integers.
Region whole_region(Graph const& graph);

/// The region with interior `inside` (interior vertices of `parent`, ascending) and all their other
/// neighbors in `parent` as halo. `scratch` has an entry -1 for each vertex of the parent, before and after
/// the call. Takes time linear in `inside` and its edges.
Region induce(Region const& parent, std::span<Index const> inside, std::vector<Index>& scratch);

/// The region of a whole graph likewise. `scratch` has an entry for each vertex of the graph.
Region region_of(Graph const& graph, std::span<std::int32_t const> inside, std::vector<Index>& scratch);

/// The connected component of each interior vertex, without the halo. Components are numbered by their first
/// vertices.
std::vector<Index> components(Region const& region, Index& num_components);

/// The position 0 .. num_interior - 1 of each interior vertex in an order of a leaf of nested dissection.
/// Regions with up to 256 interior vertices are ordered by exact external minimum degree in interior and halo
/// (Tinney and Walker 1967; Pellegrini, Roman, Amestoy 2000) with weights; ties go to the lower number.
/// Larger regions are ordered by approximate minimum degree on the interior alone.
std::vector<Index> order_leaf(Region const& region);

} // namespace espalier
