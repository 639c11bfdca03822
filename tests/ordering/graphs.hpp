// Random graphs and brute-force references for the tests of the ordering module.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "common/graphs.hpp"

namespace espalier::test {

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

/// The lattice of a x b x c vertices in which neighbors differ by at most 1 in each coordinate.
inline Graph lattice27(Index a, Index b, Index c) {
    Graph graph;
    graph.num_vertices = a * b * c;
    auto const is_inside = [](Index k, Index size) { return k >= 0 && k < size; };
    for (Index v = 0; v < graph.num_vertices; ++v) {
        Index const x = v % a, y = v / a % b, z = v / (a * b);
        for (Index step = 0; step < 27; ++step) {
            Index const u = x + step % 3 - 1, t = y + step / 3 % 3 - 1, s = z + step / 9 - 1;
            if (step != 13 && is_inside(u, a) && is_inside(t, b) && is_inside(s, c))
                graph.adj.push_back(u + a * (t + b * s));
        }
        graph.ptr.push_back(std::ssize(graph.adj));
    }
    return graph;
}

/// The unknowns of finite elements of order two on a x b x c cubes, each cut into six tetrahedra: first those
/// at the vertices of the mesh, then those at the middles of its edges.
inline Graph quadratic_elements(Index a, Index b, Index c) {
    std::map<std::pair<Index, Index>, Index> middles;
    Index unknowns = (a + 1) * (b + 1) * (c + 1);
    Index const steps[] = {1, a + 1, (a + 1) * (b + 1)};
    Edges edges;
    for (Index cube = 0; cube < a * b * c; ++cube) {
        std::array path{0, 1, 2}; // the directions of three edges of an element
        Index const corner = cube % a + cube / a % b * steps[1] + cube / (a * b) * steps[2];
        do {
            std::vector<Index> element{corner};
            for (int const d : path) element.push_back(element.back() + steps[d]);
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < i; ++j) {
                    auto const [at, added] = middles.try_emplace({element[j], element[i]}, unknowns);
                    unknowns += added ? 1 : 0;
                    element.push_back(at->second);
                }
            for (Index const v : element)
                for (Index const w : element)
                    if (w < v) edges.emplace_back(v, w);
        } while (std::next_permutation(path.begin(), path.end()));
    }
    return graph_from(unknowns, edges);
}

/// An a x b grid with further vertices on its edges. Each is adjacent to both ends of its edge. There is one
/// on each edge between columns, and there are `more` on each edge in the columns of even number.
inline Graph grid_with_thick_columns(Index a, Index b, Index more) {
    Edges edges;
    Index vertices = a * b;
    auto const connect = [&](Index v, Index w, Index between) {
        edges.emplace_back(v, w);
        for (Index k = 0; k < between; ++k, ++vertices) {
            edges.emplace_back(vertices, v);
            edges.emplace_back(vertices, w);
        }
    };
    for (Index column = 0; column < a; ++column)
        for (Index row = 0; row < b; ++row) {
            Index const v = column * b + row;
            if (row + 1 < b) connect(v, v + 1, column % 2 == 0 ? more : 0);
            if (column + 1 < a) connect(v, v + b, 1);
        }
    return graph_from(vertices, edges);
}

/// Replaces each vertex v of `graph` by a clique of copies[v] vertices, which are adjacent to all copies of
/// the neighbors of v, and shuffles the new vertices. group[w] is the vertex of `graph` of the new vertex w.
inline Graph blow_up(Graph const& graph, std::vector<Index> const& copies, std::uint32_t seed,
                     std::vector<Index>& group) {
    group.clear();
    for (Index v = 0; v < graph.num_vertices; ++v) group.insert(group.end(), copies[v], v);
    std::shuffle(group.begin(), group.end(), std::mt19937(seed));
    auto adjacent = [&](Index a, Index b) {
        auto const neighbors = graph.neighbors(a);
        return std::binary_search(neighbors.begin(), neighbors.end(), b);
    };
    Edges edges;
    for (Index v = 0; v < std::ssize(group); ++v)
        for (Index w = 0; w < v; ++w)
            if (group[v] == group[w] || adjacent(group[v], group[w])) edges.emplace_back(v, w);
    return graph_from(std::ssize(group), edges);
}

/// Number of edges of the filled graph, computed by eliminating the vertices in the order of `perm`.
inline std::size_t fill_by_elimination(Graph const& graph, std::vector<Index> const& perm) {
    std::vector<std::set<Index>> later(perm.size()); // in the new numbering
    for (Index v = 0; v < graph.num_vertices; ++v)
        for (Index const w : graph.neighbors(v))
            if (perm[w] > perm[v]) later[perm[v]].insert(perm[w]);
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
