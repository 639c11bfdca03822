#include "ordering/induced_subgraph.hpp"

namespace espalier {

Graph induced_subgraph(Graph const& graph, std::span<Index const> vertices) {
    std::vector<Index> number(graph.num_vertices, -1);
    return induced_subgraph(graph, vertices, number);
}

Graph induced_subgraph(Graph const& graph, std::span<Index const> vertices, std::vector<Index>& number) {
    Graph result;
    result.num_vertices = std::ssize(vertices);
    for (Index k = 0; k < result.num_vertices; ++k) number[vertices[k]] = k;
    for (Index const v : vertices) {
        for (Index const w : graph.neighbors(v))
            if (number[w] >= 0) result.adj.push_back(number[w]);
        result.ptr.push_back(std::ssize(result.adj));
        if (!graph.weight.empty()) result.weight.push_back(graph.weight[v]);
    }
    for (Index const v : vertices) number[v] = -1;
    return result;
}

} // namespace espalier
