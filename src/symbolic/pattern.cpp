#include "symbolic/pattern.hpp"

#include <algorithm>

namespace espalier {

LowerPattern lower_pattern(Graph const& graph, Ordering const& ordering) {
    auto const n = static_cast<Vertex>(graph.num_vertices);
    LowerPattern pattern;
    pattern.ptr.reserve(n + 1);
    pattern.weight.reserve(n);
    pattern.rows.reserve(graph.adj.size() / 2); // each edge is in two lists
    for (Vertex j = 0; j < n; ++j) {
        Index const old = ordering.inverse[j];
        for (Index const neighbor : graph.neighbors(old))
            if (Index const i = ordering.perm[neighbor]; i > j)
                pattern.rows.push_back(static_cast<Vertex>(i));
        std::sort(pattern.rows.begin() + pattern.ptr.back(), pattern.rows.end());
        pattern.ptr.push_back(std::ssize(pattern.rows));
        pattern.weight.push_back(graph.weight_of(old));
    }
    return pattern;
}

} // namespace espalier
