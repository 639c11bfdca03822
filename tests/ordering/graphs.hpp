// Small graphs and brute-force references for the tests of the ordering room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/graph.hpp"

namespace espalier::test {

using Edges = std::vector<std::pair<Index, Index>>;

inline Graph graph_from(Index n, Edges const& edges) {
    std::vector<std::set<Index>> lists(n);
    for (auto [a, b] : edges)
        if (a != b) {
            lists[a].insert(b);
            lists[b].insert(a);
        }
    Graph graph;
    graph.num_vertices = n;
    for (auto const& list : lists) {
        graph.adj.insert(graph.adj.end(), list.begin(), list.end());
        graph.ptr.push_back(static_cast<Offset>(graph.adj.size()));
    }
    return graph;
}

inline Graph path(Index n) {
    Edges edges;
    for (Index v = 0; v + 1 < n; ++v) edges.push_back({v, v + 1});
    return graph_from(n, edges);
}

inline Graph star(Index n) { // vertex 0 in the middle
    Graph graph;
    graph.num_vertices = n;
    for (Index v = 1; v < n; ++v) graph.adj.push_back(v);
    graph.ptr.push_back(n - 1);
    for (Index v = 1; v < n; ++v) {
        graph.adj.push_back(0);
        graph.ptr.push_back(static_cast<Offset>(graph.adj.size()));
    }
    return graph;
}

inline Graph complete(Index n) {
    Edges edges;
    for (Index a = 0; a < n; ++a)
        for (Index b = 0; b < a; ++b) edges.push_back({a, b});
    return graph_from(n, edges);
}

inline Graph grid(Index nx, Index ny, Index nz = 1) { // 5- or 7-point
    Graph graph;
    graph.num_vertices = nx * ny * nz;
    for (Index z = 0; z < nz; ++z)
        for (Index y = 0; y < ny; ++y)
            for (Index x = 0; x < nx; ++x) {
                Index const v = x + nx * (y + ny * z);
                if (z > 0) graph.adj.push_back(v - nx * ny);
                if (y > 0) graph.adj.push_back(v - nx);
                if (x > 0) graph.adj.push_back(v - 1);
                if (x + 1 < nx) graph.adj.push_back(v + 1);
                if (y + 1 < ny) graph.adj.push_back(v + nx);
                if (z + 1 < nz) graph.adj.push_back(v + nx * ny);
                graph.ptr.push_back(static_cast<Offset>(graph.adj.size()));
            }
    return graph;
}

inline Graph random_graph(Index n, Index edges, std::uint32_t seed) {
    std::mt19937 random(seed);
    Edges list;
    for (Index e = 0; e < edges; ++e)
        list.push_back({static_cast<Index>(random() % n), static_cast<Index>(random() % n)});
    return graph_from(n, list);
}

inline Graph side_by_side(std::vector<Graph> const& parts) {
    Graph graph;
    for (auto const& part : parts) {
        for (Index const w : part.adj) graph.adj.push_back(graph.num_vertices + w);
        Offset const base = graph.ptr.back();
        for (Index v = 0; v < part.num_vertices; ++v) graph.ptr.push_back(base + part.ptr[v + 1]);
        graph.num_vertices += part.num_vertices;
    }
    return graph;
}

/// Each vertex of `graph` replaced by a clique of copies[v] vertices, all tied to the neighbours' copies; the
/// new vertices are shuffled. group[v]: the vertex of `graph` that the new vertex v comes from.
inline Graph blow_up(Graph const& graph, std::vector<Index> const& copies, std::uint32_t seed,
                     std::vector<Index>& group) {
    group.clear();
    for (Index v = 0; v < graph.num_vertices; ++v)
        group.insert(group.end(), static_cast<std::size_t>(copies[v]), v);
    std::shuffle(group.begin(), group.end(), std::mt19937(seed));
    auto adjacent = [&](Index a, Index b) {
        return std::binary_search(graph.adj.begin() + graph.ptr[a], graph.adj.begin() + graph.ptr[a + 1], b);
    };
    Edges edges;
    for (std::size_t v = 0; v < group.size(); ++v)
        for (std::size_t w = 0; w < v; ++w)
            if (group[v] == group[w] || adjacent(group[v], group[w]))
                edges.push_back({static_cast<Index>(v), static_cast<Index>(w)});
    return graph_from(static_cast<Index>(group.size()), edges);
}

/// Edges of the filled graph, by eliminating the vertices one by one in the order inverse[0], inverse[1], ...
inline std::size_t fill_by_elimination(Graph const& graph, std::vector<Index> const& perm) {
    std::vector<std::set<Index>> later(perm.size()); // in the new numbering
    for (Index v = 0; v < graph.num_vertices; ++v)
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
            if (perm[graph.adj[e]] > perm[v]) later[perm[v]].insert(perm[graph.adj[e]]);
    std::size_t entries = 0;
    for (auto& column : later) {
        entries += column.size();
        if (column.empty()) continue;
        Index const parent = *column.begin();
        later[parent].insert(std::next(column.begin()), column.end());
    }
    return entries;
}

} // namespace espalier::test
