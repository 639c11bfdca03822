#include "ordering/constrained.hpp"

#include <algorithm>
#include <utility>

#include "ordering/permutation.hpp"
#include "ordering/subgraph.hpp"

namespace espalier {

namespace {

std::vector<char> marks_of_last(ConstrainedGraph const& graph) {
    std::vector<char> is_last(graph.compressed.graph.num_vertices, 0);
    for (Index const v : graph.last) is_last[v] = 1;
    return is_last;
}

std::vector<Index> interior_vertices(std::vector<char> const& is_last) {
    std::vector<Index> vertices;
    for (Index v = 0; v < std::ssize(is_last); ++v)
        if (!is_last[v]) vertices.push_back(v);
    return vertices;
}

// The elimination order: vertices by new number.
std::vector<Index> elimination_order(ConstrainedGraph const& graph, OrderingOptions const& options) {
    auto const is_last = marks_of_last(graph);
    if (options.method == OrderingMethod::natural || options.method == OrderingMethod::user) {
        auto inverse = compute_ordering(graph.compressed.graph, options).inverse;
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
    return induced_subgraph(constrained.compressed.graph, interior_vertices(marks_of_last(constrained)));
}

Ordering order_with_last(ConstrainedGraph const& graph, OrderingOptions const& options) {
    if (graph.last.empty()) return compute_ordering(graph.compressed.graph, options);
    auto inverse = elimination_order(graph, options);
    auto perm = invert_permutation(inverse, "the constrained ordering");
    return {std::move(perm), std::move(inverse)};
}

} // namespace espalier
