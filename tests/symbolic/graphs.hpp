// Orderings and dense references for the tests of the symbolic module. They are brute force and share no code
// with the functions under test.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "common/graphs.hpp"
#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"

namespace espalier::testing {

using test::complete;
using test::graph_from;
using test::grid;
using test::path;
using test::star;

using EdgeSet = std::set<std::pair<Index, Index>>;

inline Graph random_graph(Index n, double edges_per_vertex, std::mt19937_64& random) {
    EdgeSet edges;
    if (n > 0)
        for (Index e = 0; e < static_cast<Index>(edges_per_vertex * static_cast<double>(n)); ++e)
            edges.emplace(static_cast<Index>(random() % n), static_cast<Index>(random() % n));
    return graph_from(n, edges);
}

inline Ordering ordering_from(std::vector<Index> inverse) {
    Ordering ordering{std::vector<Index>(inverse.size()), std::move(inverse)};
    for (Index k = 0; k < std::ssize(ordering.inverse); ++k) ordering.perm[ordering.inverse[k]] = k;
    return ordering;
}

inline Ordering natural_order(Index n) {
    std::vector<Index> inverse(n);
    std::iota(inverse.begin(), inverse.end(), Index{0});
    return ordering_from(inverse);
}

inline Ordering random_order(Index n, std::mt19937_64& random) {
    std::vector<Index> inverse(n);
    std::iota(inverse.begin(), inverse.end(), Index{0});
    for (Index k = n; k > 1; --k) std::swap(inverse[k - 1], inverse[static_cast<Index>(random() % k)]);
    return ordering_from(inverse);
}

/// Connects the vertices first .. end - 1 with each other.
inline EdgeSet with_clique(EdgeSet edges, Index first, Index end) {
    for (Index u = first; u < end; ++u)
        for (Index v = first; v < u; ++v) edges.emplace(u, v);
    return edges;
}

/// Nested dissection of grid(nx, ny, nz) by planes across the longest side.
inline Ordering nested_dissection(Index nx, Index ny, Index nz) {
    std::vector<Index> inverse;
    struct Box {
        std::array<Index, 3> low, high;
    };
    auto const number = [&](auto const& self, Box const& box) -> void {
        std::size_t axis = 0;
        for (std::size_t a = 1; a < 3; ++a)
            if (box.high[a] - box.low[a] > box.high[axis] - box.low[axis]) axis = a;
        Box separator = box;
        if (box.high[axis] - box.low[axis] > 2) {
            Index const middle = (box.low[axis] + box.high[axis]) / 2;
            Box half = box;
            half.high[axis] = middle;
            self(self, half);
            half = box;
            half.low[axis] = middle + 1;
            self(self, half);
            separator.low[axis] = middle;
            separator.high[axis] = middle + 1;
        }
        for (Index z = separator.low[2]; z < separator.high[2]; ++z)
            for (Index y = separator.low[1]; y < separator.high[1]; ++y)
                for (Index x = separator.low[0]; x < separator.high[0]; ++x)
                    inverse.push_back(x + nx * (y + ny * z));
    };
    number(number, {{0, 0, 0}, {nx, ny, nz}});
    return ordering_from(inverse);
}

/// Gives each vertex 1 to max_weight rows at random positions in the matrix.
inline CompressedGraph with_random_weights(Graph graph, Index max_weight, std::mt19937_64& random) {
    CompressedGraph compressed{std::move(graph), {}};
    for (Index v = 0; v < compressed.graph.num_vertices; ++v) {
        compressed.graph.weight.push_back(1 + static_cast<Index>(random() % max_weight));
        compressed.vertex_of_row.insert(compressed.vertex_of_row.end(), compressed.graph.weight.back(), v);
    }
    auto& rows = compressed.vertex_of_row;
    for (std::size_t k = rows.size(); k > 1; --k) std::swap(rows[k - 1], rows[random() % k]);
    return compressed;
}

/// The lower triangle of L with its diagonal: filled[i][j] for i >= j.
using Fill = std::vector<std::vector<char>>;

/// Eliminates the rows of the compressed graph one after another; row `old` has number perm[old].
inline Fill dense_fill(CompressedGraph const& compressed, std::vector<Index> const& perm) {
    auto const n = compressed.vertex_of_row.size();
    Graph const& graph = compressed.graph;
    std::vector<std::set<Index>> adjacent(graph.num_vertices);
    for (Index v = 0; v < graph.num_vertices; ++v) {
        adjacent[v] = {graph.neighbors(v).begin(), graph.neighbors(v).end()};
        adjacent[v].insert(v);
    }
    Fill fill(n, std::vector<char>(n, 0));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (perm[i] >= perm[j] &&
                adjacent[compressed.vertex_of_row[i]].count(compressed.vertex_of_row[j]))
                fill[perm[i]][perm[j]] = 1;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i)
            if (fill[i][k])
                for (std::size_t j = k + 1; j <= i; ++j)
                    if (fill[j][k]) fill[i][j] = 1;
    return fill;
}

/// The order of rows for an order of vertices: the rows of a vertex are consecutive and in their old order.
inline std::vector<Index> row_order(CompressedGraph const& compressed, Ordering const& ordering) {
    Index const n = std::ssize(compressed.vertex_of_row);
    std::vector<Index> rows(n);
    std::iota(rows.begin(), rows.end(), Index{0});
    std::stable_sort(rows.begin(), rows.end(), [&](Index a, Index b) {
        return ordering.perm[compressed.vertex_of_row[a]] < ordering.perm[compressed.vertex_of_row[b]];
    });
    std::vector<Index> perm(n);
    for (Index k = 0; k < n; ++k) perm[rows[k]] = k;
    return perm;
}

/// Number of entries of each column with its diagonal.
inline std::vector<Index> column_heights(Fill const& fill) {
    std::vector<Index> heights(fill.size(), 0);
    for (auto const& row : fill)
        for (std::size_t j = 0; j < row.size(); ++j) heights[j] += row[j];
    return heights;
}

/// Entries and flops (squared heights) of the first columns.
struct Sizes {
    Offset nnz = 0;
    double flops = 0;
    Sizes(std::vector<Index> const& heights, Index columns) {
        for (Index j = 0; j < columns; ++j) {
            nnz += heights[j];
            flops += static_cast<double>(heights[j] * heights[j]);
        }
    }
};

/// The first row below the diagonal in each column, or -1.
inline std::vector<Index> first_rows_below(Fill const& fill) {
    std::vector<Index> first(fill.size(), -1);
    for (std::size_t i = fill.size(); i-- > 0;)
        for (std::size_t j = 0; j < i; ++j)
            if (fill[i][j]) first[j] = static_cast<Index>(i);
    return first;
}

} // namespace espalier::testing
