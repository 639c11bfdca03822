// Graphs that nested dissection cuts: with 32-bit numbers, because cuts are as fast as memory, and with the
// weights of the edges that contraction merges.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// Number of a vertex in a graph to cut.
using Vertex = std::int32_t;

/// An undirected graph without self loops. Lists of neighbors have no order.
struct CutGraph {
    std::vector<Offset> ptr{0};            ///< num_vertices() + 1 entries.
    std::vector<Vertex> adj;               ///< The neighbors of v are adj[ptr[v] .. ptr[v + 1]).
    std::vector<std::int32_t> edge_weight; ///< One for each entry of adj; empty if all are 1.
    std::vector<std::int32_t> weight;      ///< One for each vertex.
    std::int64_t total = 0;                ///< Sum of the weights of all vertices, below 2^31.

    [[nodiscard]] Vertex num_vertices() const { return static_cast<Vertex>(weight.size()); }
    [[nodiscard]] std::span<Vertex const> neighbors(Vertex v) const {
        return {adj.data() + ptr[v], adj.data() + ptr[v + 1]};
    }
    [[nodiscard]] std::int32_t weight_of_edge(Offset e) const {
        return edge_weight.empty() ? 1 : edge_weight[e];
    }
};

/// The graph with 32-bit numbers. Weights are scaled by balance_weights() if their sum is 2^30 or more.
/// Error{unsupported} for 2^30 vertices or more.
CutGraph cut_graph(Graph const& graph);
/// The graph of the vertices `kept` (ascending) likewise, with the same weights.
CutGraph cut_graph(Graph const& graph, std::span<Vertex const> kept);

/// A cut of a graph: part 0, part 1, and the separator as part 2. No edge connects parts 0 and 1.
struct Cut {
    std::vector<std::uint8_t> part;       ///< The part of each vertex.
    std::array<std::int64_t, 3> weight{}; ///< The weight of each part.

    /// Whether both parts have vertices.
    [[nodiscard]] bool divides() const { return weight[0] > 0 && weight[1] > 0; }
    /// The price of the cut, by which cuts are compared: the weight of the separator, and up to half of it
    /// for an imbalance. Infinite if the cut does not divide the graph.
    [[nodiscard]] double price() const;
    void set_weights(CutGraph const& graph);
};

/// A pass that moves vertices between parts ends after so many moves that found no better cut.
[[nodiscard]] inline std::size_t patience_of_pass(CutGraph const& graph) {
    return static_cast<std::size_t>(std::clamp<Vertex>(graph.num_vertices() / 50, 15, 300));
}

/// The graph of part `side` of a cut. number[v] becomes the number in it of each vertex v of the part.
CutGraph part_of(CutGraph const& graph, Cut const& cut, int side, std::vector<Vertex>& number);

} // namespace espalier
