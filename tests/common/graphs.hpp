// Small graphs for the tests of several modules.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "core/graph.hpp"

namespace espalier::test {

using Edges = std::vector<std::pair<Index, Index>>;

/// The graph of a range of edges, in any order and possibly repeated. Self loops are ignored.
template <class Range = Edges> Graph graph_from(Index n, Range const& edges) {
    std::vector<std::set<Index>> lists(n);
    for (auto const& [a, b] : edges)
        if (a != b) {
            lists[a].insert(b);
            lists[b].insert(a);
        }
    Graph graph;
    graph.num_vertices = n;
    for (auto const& list : lists) {
        graph.adj.insert(graph.adj.end(), list.begin(), list.end());
        graph.ptr.push_back(std::ssize(graph.adj));
    }
    return graph;
}

inline Graph path(Index n) {
    Edges edges;
    for (Index v = 0; v + 1 < n; ++v) edges.emplace_back(v, v + 1);
    return graph_from(n, edges);
}

/// Vertex `hub` is adjacent to all others.
inline Graph star(Index n, Index hub = 0) {
    Edges edges;
    for (Index v = 0; v < n; ++v) edges.emplace_back(hub, v);
    return graph_from(n, edges);
}

inline Graph complete(Index n) {
    Edges edges;
    for (Index a = 0; a < n; ++a)
        for (Index b = 0; b < a; ++b) edges.emplace_back(a, b);
    return graph_from(n, edges);
}

/// A grid with the 7-point stencil (5-point if nz = 1); vertex (x, y, z) is x + nx (y + ny z).
inline Graph grid(Index nx, Index ny, Index nz = 1) {
    Edges edges;
    for (Index z = 0; z < nz; ++z)
        for (Index y = 0; y < ny; ++y)
            for (Index x = 0; x < nx; ++x) {
                Index const v = x + nx * (y + ny * z);
                if (x > 0) edges.emplace_back(v, v - 1);
                if (y > 0) edges.emplace_back(v, v - nx);
                if (z > 0) edges.emplace_back(v, v - nx * ny);
            }
    return graph_from(nx * ny * nz, edges);
}

} // namespace espalier::test
