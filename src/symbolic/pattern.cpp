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
        for (Index const neighbour : graph.neighbours(old))
            if (Index const j = ordering.perm[neighbour]; j < i) ++pattern.ptr[j + 1];
    }
    std::partial_sum(pattern.ptr.begin(), pattern.ptr.end(), pattern.ptr.begin());

    // Rows are visited in ascending order, so the list of each column is sorted.
    pattern.rows.resize(pattern.ptr[n]);
    std::vector<Offset> next(pattern.ptr.begin(), pattern.ptr.end() - 1);
    for (Vertex i = 0; i < n; ++i)
        for (Index const neighbour : graph.neighbours(ordering.inverse[i]))
            if (Index const j = ordering.perm[neighbour]; j < i) pattern.rows[next[j]++] = i;
    return pattern;
}

} // namespace espalier
