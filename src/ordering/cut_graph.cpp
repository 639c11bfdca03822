#include "ordering/cut_graph.hpp"

#include <algorithm>
#include <limits>

#include "ordering/methods.hpp"

namespace espalier {

CutGraph cut_graph(Graph const& graph) {
    constexpr Index limit = Index(1) << 30;
    if (graph.num_vertices >= limit)
        throw Error(Status::unsupported,
                    "the ordering 'dissection' needs a graph of fewer than 2^30 vertices");
    CutGraph cut;
    cut.ptr = graph.ptr;
    cut.adj.assign(graph.adj.begin(), graph.adj.end());
    double sum = 0;
    for (Index v = 0; v < graph.num_vertices; ++v) sum += static_cast<double>(graph.weight_of(v));
    auto const weight = sum < static_cast<double>(limit) ? graph.weight : balance_weights(graph, limit);
    cut.weight.assign(weight.begin(), weight.end());
    if (cut.weight.empty()) cut.weight.assign(graph.num_vertices, 1);
    for (auto const w : cut.weight) cut.total += w;
    return cut;
}

double Cut::price() const {
    if (!divides()) return std::numeric_limits<double>::infinity();
    auto const [less, more] = std::minmax(weight[0], weight[1]);
    double const imbalance = static_cast<double>(more - less) / static_cast<double>(more + less);
    // The last term prefers balance between separators without vertices.
    return static_cast<double>(weight[2]) * (1 + 0.5 * imbalance) + 1e-3 * imbalance;
}

void Cut::set_weights(CutGraph const& graph) {
    weight = {};
    for (Vertex v = 0; v < graph.num_vertices(); ++v) weight[part[v]] += graph.weight[v];
}

CutGraph part_of(CutGraph const& graph, Cut const& cut, int side, std::vector<Vertex>& number) {
    CutGraph result;
    result.total = cut.weight[side];
    Vertex count = 0;
    Offset edges = 0;
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
        if (cut.part[v] == side) {
            number[v] = count++;
            edges += graph.ptr[v + 1] - graph.ptr[v];
        }
    result.ptr.reserve(count + 1);
    result.weight.reserve(count);
    result.adj.resize(edges + 1); // an entry that does not count is written behind the last one
    Vertex* const adj = result.adj.data();
    Offset end = 0;
    for (Vertex v = 0; v < graph.num_vertices(); ++v) {
        if (cut.part[v] != side) continue;
        for (Vertex const w : graph.neighbours(v)) {
            adj[end] = number[w];
            end += cut.part[w] == side ? 1 : 0;
        }
        result.ptr.push_back(end);
        result.weight.push_back(graph.weight[v]);
    }
    result.adj.resize(end);
    return result;
}

} // namespace espalier
