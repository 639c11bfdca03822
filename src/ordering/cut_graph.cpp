#include "ordering/cut_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "minimum_degree/balance_weights.hpp"

namespace espalier {

namespace {

constexpr Index cut_graph_limit = Index(1) << 30; // of the number of vertices, and of the sum of weights

void require_numbers(Graph const& graph) {
    if (graph.num_vertices >= cut_graph_limit)
        throw Error(Status::unsupported,
                    "the ordering 'dissection' needs a graph of fewer than 2^30 vertices");
}

void set_cut_weights(CutGraph& cut, Graph const& graph, std::span<Vertex const> vertices) {
    double sum = 0;
    for (Index v = 0; v < graph.num_vertices; ++v) sum += static_cast<double>(graph.weight_of(v));
    bool const is_large = sum >= static_cast<double>(cut_graph_limit);
    auto const weight = is_large ? balance_weights(graph, cut_graph_limit) : graph.weight;
    cut.weight.assign(vertices.size(), 1);
    if (!weight.empty())
        for (std::size_t k = 0; k < vertices.size(); ++k)
            cut.weight[k] = static_cast<std::int32_t>(weight[vertices[k]]);
    for (auto const w : cut.weight) cut.total += w;
}

} // namespace

CutGraph cut_graph(Graph const& graph) {
    require_numbers(graph);
    CutGraph cut;
    cut.ptr = graph.ptr;
    cut.adj.assign(graph.adj.begin(), graph.adj.end());
    std::vector<Vertex> all(graph.num_vertices);
    std::iota(all.begin(), all.end(), 0);
    set_cut_weights(cut, graph, all);
    return cut;
}

CutGraph cut_graph(Graph const& graph, std::span<Vertex const> kept) {
    require_numbers(graph);
    std::vector<Vertex> number(graph.num_vertices, -1);
    for (std::size_t k = 0; k < kept.size(); ++k) number[kept[k]] = static_cast<Vertex>(k);
    CutGraph cut;
    cut.ptr.reserve(kept.size() + 1);
    for (Vertex const v : kept) {
        for (Index const w : graph.neighbors(v))
            if (number[w] >= 0) cut.adj.push_back(number[w]);
        cut.ptr.push_back(std::ssize(cut.adj));
    }
    set_cut_weights(cut, graph, kept);
    return cut;
}

double Cut::price() const {
    if (!divides()) return std::numeric_limits<double>::infinity();
    auto const [less, more] = std::minmax(weight[0], weight[1]);
    double const imbalance = static_cast<double>(more - less) / static_cast<double>(more + less);
    // The work at the separator grows with the cube of its weight, and the work in a part of n vertices like
    // n^1.5 in the plane and n^2 in space. Factors from 0.3 to 1 of the square give equally good orderings
    // of most meshes. The last term prefers balance between separators without vertices.
    return static_cast<double>(weight[2]) * (1 + 0.5 * imbalance * imbalance) + 1e-3 * imbalance;
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
        for (Vertex const w : graph.neighbors(v)) {
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
