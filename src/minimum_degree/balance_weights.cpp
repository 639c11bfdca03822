#include "minimum_degree/balance_weights.hpp"

#include <algorithm>

namespace espalier {

std::vector<Index> balance_weights(Graph const& graph, Index limit) {
    auto const& weight = graph.weight;
    if (weight.empty() || std::all_of(weight.begin(), weight.end(), [&](Index w) { return w == weight[0]; }))
        return {};
    double sum = 0;
    for (Index const w : weight) sum += static_cast<double>(std::max<Index>(1, w));
    auto const n = static_cast<double>(graph.num_vertices);
    // The scaled weights are 8 on average; rounding up to 1 may add n to their sum.
    double const room = (static_cast<double>(limit) - n) * (1 - 1e-6);
    double const scale = std::min({1.0, 8 * n / sum, room / sum});
    std::vector<Index> scaled;
    scaled.reserve(weight.size());
    for (Index const w : weight)
        scaled.push_back(static_cast<Index>(std::clamp(scale * static_cast<double>(w), 1.0, 64.0)));
    return scaled;
}

} // namespace espalier
