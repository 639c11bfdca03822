#include "symbolic/pattern.hpp"

#include <numeric>

namespace espalier {

LowerPattern lower_pattern(Graph const& graph, Ordering const& ordering) {
    auto const n = static_cast<Vertex>(graph.num_vertices);
    LowerPattern pattern;
    pattern.ptr.assign(n + 1, 0);
    pattern.weight.resize(n);
    for (Vertex i = 0; i < n; ++i) {
        Index const old = ordering.inverse[i];
        pattern.weight[i] = graph.weight_of(old);
        for (Offset e = graph.ptr[old]; e < graph.ptr[old + 1]; ++e) {
            Index const j = ordering.perm[graph.adj[e]];
            if (j < i) ++pattern.ptr[j + 1];
        }
    }
    std::partial_sum(pattern.ptr.begin(), pattern.ptr.end(), pattern.ptr.begin());

    // Rows i come in ascending order, so each column's list is filled in sorted order.
    pattern.rows.resize(pattern.ptr[n]);
    std::vector<Offset> next(pattern.ptr.begin(), pattern.ptr.end() - 1);
    for (Vertex i = 0; i < n; ++i) {
        Index const old = ordering.inverse[i];
        for (Offset e = graph.ptr[old]; e < graph.ptr[old + 1]; ++e) {
            Index const j = ordering.perm[graph.adj[e]];
            if (j < i) pattern.rows[next[j]++] = i;
        }
    }
    return pattern;
}

} // namespace espalier
