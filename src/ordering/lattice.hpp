// Lattices: graphs of structured grids whose vertices are numbered line by line and plane by plane. Layers
// of points are separators, which need no search.
#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <vector>

#include "core/graph.hpp"
#include "core/interrupt.hpp"

namespace espalier {

using StepSet = std::bitset<64>; ///< Indices of Lattice::steps.

/// Vertex x + size[0] * (y + size[1] * z) is the point (x, y, z).
struct Lattice {
    std::array<int, 3> size{1, 1, 1};      ///< Number of points in each direction; size[2] is 1 in a plane.
    /// Differences w - v of the points of edges, for vertices w > v: at most 62, by ascending w - v.
    std::vector<std::array<int, 3>> steps;
    /// The steps of the edges from each point to later ones. Empty if all points have all steps that end in
    /// the lattice.
    std::vector<StepSet> steps_from;

    /// Goes from a point to the next one, in the order of the vertices.
    void advance(std::array<int, 3>& point) const {
        for (int d = 0; d < 3 && ++point[d] == size[d] && d < 2; ++d) point[d] = 0;
    }
};

/// The lattice whose points are the vertices in their order and whose steps are at most 2 in each direction,
/// or nothing if the edges do not fit into any, or if more than a fifth of the edges of a regular lattice are
/// missing. In a regular lattice, the steps from a point depend on whether its coordinates are even or odd,
/// as in finite elements of higher order. Takes time linear in the edges; most graphs without such an order
/// are refused after a few hundred vertices.
std::optional<Lattice> find_lattice(Graph const& graph);

/// perm[old] = new of a nested dissection by layers of points, with order_leaf() on small parts. Layers may
/// be oblique: with steps along the axes, those with equal sums of coordinates are the smallest separators of
/// a cube. The result does not depend on the number of threads. Error{cancelled}.
std::vector<Index> order_lattice(Graph const& graph, Lattice const& lattice, int threads,
                                 Interrupt* interrupt);

} // namespace espalier
