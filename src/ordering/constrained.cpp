#include "ordering/constrained.hpp"

#include <algorithm>

namespace espalier {

namespace {

std::vector<char> marks_of_last(ConstrainedGraph const& graph) {
    std::vector<char> is_last(graph.compressed.graph.num_vertices, 0);
    for (Index const v : graph.last) is_last[v] = 1;
    return is_last;
}

std::vector<Index> interior_vertices(std::vector<char> const& is_last) {
    std::vector<Index> vertices;
    for (std::size_t v = 0; v < is_last.size(); ++v)
        if (!is_last[v]) vertices.push_back(static_cast<Index>(v));
    return vertices;
}

// Who is eliminated when.
std::vector<Index> sequence(ConstrainedGraph const& graph, OrderingOptions const& options) {
    auto const is_last = marks_of_last(graph);
    if (options.method == OrderingMethod::natural || options.method == OrderingMethod::user) {
        auto inverse = compute_ordering(graph.compressed.graph, options).inverse; // of all rows
        std::stable_partition(inverse.begin(), inverse.end(), [&](Index v) { return !is_last[v]; });
        return inverse;
    }
    auto const vertices = interior_vertices(is_last);
    auto inverse = compute_ordering(interior_graph(graph), options).inverse;
    for (Index& v : inverse) v = vertices[v];
    inverse.insert(inverse.end(), graph.last.begin(), graph.last.end());
    return inverse;
}

} // namespace

Graph interior_graph(ConstrainedGraph const& constrained) {
    Graph const& graph = constrained.compressed.graph;
    auto const is_last = marks_of_last(constrained);
    auto const vertices = interior_vertices(is_last);
    std::vector<Index> number(is_last.size(), -1);
    for (std::size_t k = 0; k < vertices.size(); ++k) number[vertices[k]] = static_cast<Index>(k);
    Graph interior;
    interior.num_vertices = static_cast<Index>(vertices.size());
    for (Index const v : vertices) {
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
            if (Index const w = number[graph.adj[e]]; w >= 0) interior.adj.push_back(w);
        interior.ptr.push_back(static_cast<Offset>(interior.adj.size()));
        if (!graph.weight.empty()) interior.weight.push_back(graph.weight[v]);
    }
    return interior;
}

Ordering order_with_last(ConstrainedGraph const& graph, OrderingOptions const& options) {
    if (graph.last.empty()) return compute_ordering(graph.compressed.graph, options);
    Ordering ordering{{}, sequence(graph, options)};
    ordering.perm.resize(ordering.inverse.size());
    for (std::size_t k = 0; k < ordering.inverse.size(); ++k)
        ordering.perm[ordering.inverse[k]] = static_cast<Index>(k);
    return ordering;
}

} // namespace espalier
