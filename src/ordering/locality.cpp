#include "ordering/locality.hpp"

#include <cstdlib>

namespace espalier {

bool is_scattered(Graph const& graph) {
    constexpr Index fits_in_cache = 20'000, sampling = 16, share = 20;
    Index const n = graph.num_vertices;
    if (n < fits_in_cache) return false;
    double sum = 0;
    Offset edges = 0;
    for (Index v = 0; v < n; v += sampling) {
        for (Index const w : graph.neighbors(v)) sum += static_cast<double>(std::abs(v - w));
        edges += graph.degree(v);
    }
    return sum * share > static_cast<double>(n) * static_cast<double>(edges);
}

std::vector<Index> breadth_first_order(Graph const& graph) {
    std::vector<Index> order;
    order.reserve(graph.num_vertices);
    std::vector<char> is_reached(graph.num_vertices, 0);
    auto const reach = [&](Index v) {
        if (is_reached[v]) return;
        is_reached[v] = 1;
        order.push_back(v);
    };
    std::size_t next = 0;
    for (Index root = 0; root < graph.num_vertices; ++root) {
        reach(root);
        for (; next < order.size(); ++next)
            for (Index const w : graph.neighbors(order[next])) reach(w);
    }
    return order;
}

Graph renumbered(Graph const& graph, std::span<Index const> vertex_at, std::span<Index const> number) {
    Graph result;
    result.num_vertices = graph.num_vertices;
    result.ptr.reserve(vertex_at.size() + 1);
    if (!graph.weight.empty()) result.weight.reserve(vertex_at.size());
    for (Index const v : vertex_at) {
        result.ptr.push_back(result.ptr.back() + graph.degree(v));
        if (!graph.weight.empty()) result.weight.push_back(graph.weight[v]);
    }
    // Each vertex enters the lists of its neighbors, which makes these ascend.
    result.adj.resize(graph.adj.size());
    std::vector<Offset> next(result.ptr.begin(), result.ptr.end() - 1);
    for (Index k = 0; k < result.num_vertices; ++k)
        for (Index const w : graph.neighbors(vertex_at[k])) result.adj[next[number[w]]++] = k;
    return result;
}

} // namespace espalier
