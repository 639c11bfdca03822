#include "ordering/graph_properties.hpp"

#include <algorithm>
#include <cmath>

#include "core/scalar.hpp"
#include "ordering/cut_graph.hpp"
#include "ordering/distance_search.hpp"
#include "ordering/multilevel_cut.hpp"

namespace espalier {

// Each level of the dissection looks at all entries of the graph.
double predicted_dissection_seconds(Graph const& graph) {
    auto const n = static_cast<double>(graph.num_vertices);
    auto const entries = static_cast<double>(std::ssize(graph.adj)) + n;
    return 0.02e-6 * entries * std::log2(std::max(2.0, n / 100));
}

double estimated_dissection_work(Graph const& graph) {
    MultilevelCut cuts;
    Cut cut;
    bool const divides = cuts.find_quickly(cut_graph(graph), cut);
    return divides ? estimated_work(cut) : infinity;
}

double full_band_flops(Graph const& graph) {
    double rows = 0, neighbors = 0;
    for (Index v = 0; v < graph.num_vertices; ++v) {
        Index of_row = graph.weight_of(v) - 1;
        for (Index const w : graph.neighbors(v)) of_row += graph.weight_of(w);
        rows += static_cast<double>(graph.weight_of(v));
        neighbors += static_cast<double>(graph.weight_of(v)) * static_cast<double>(of_row);
    }
    double const width = 1 + neighbors / (2 * std::max(rows, 1.0));
    return rows * width * width;
}

bool has_hubs(Graph const& graph, Offset times_average) {
    Offset most = 0;
    for (Index v = 0; v < graph.num_vertices; ++v) most = std::max(most, graph.degree(v));
    return static_cast<double>(most) * static_cast<double>(graph.num_vertices) >
           static_cast<double>(times_average) * static_cast<double>(std::ssize(graph.adj));
}

bool has_long_paths(Graph const& graph) {
    if (graph.num_vertices == 0 || std::ssize(graph.adj) >= 6 * graph.num_vertices) return false;
    Index first = 0; // not one of the few vertices that are connected with no others
    while (graph.degree(first) * graph.num_vertices < std::ssize(graph.adj)) ++first;
    DistanceSearch search(graph);
    auto const other = search.run(search.run(first).vertex);
    return 3 * static_cast<double>(other.distance + 1) >= std::sqrt(static_cast<double>(other.reached));
}

} // namespace espalier
