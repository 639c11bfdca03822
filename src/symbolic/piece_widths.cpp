#include "symbolic/piece_widths.hpp"

#include <algorithm>

#include "symbolic/column_counts.hpp"

namespace espalier {

namespace {

// The work of the subtree of each supernode.
std::vector<double> subtree_work(Supernodes const& supernodes) {
    std::vector<double> work(supernodes.size());
    for (SupernodeId s = 0; s < supernodes.size(); ++s) {
        work[s] += trapezoid_flops(supernodes.width[s] + supernodes.below[s], supernodes.width[s]);
        if (SupernodeId const parent = supernodes.parent[s]; parent != no_supernode) work[parent] += work[s];
    }
    return work;
}

} // namespace

std::vector<PieceWidths> uniform_widths(Supernodes const& supernodes, PieceWidths const& bounds) {
    return std::vector<PieceWidths>(supernodes.size(), bounds);
}

std::vector<PieceWidths> widths_for_workers(Supernodes const& supernodes, int workers) {
    constexpr double panels_per_worker = 6;
    constexpr PieceWidths widest;
    std::vector<PieceWidths> widths = uniform_widths(supernodes, widest);
    if (workers == 1) return widths;
    std::vector<double> const work = subtree_work(supernodes);
    double all = 0;
    for (SupernodeId s = 0; s < supernodes.size(); ++s)
        if (supernodes.parent[s] == no_supernode) all += work[s];
    for (SupernodeId s = 0; s < supernodes.size(); ++s) {
        double const own_workers = workers * work[s] / all;
        if (own_workers <= 1) continue;
        auto const rows = static_cast<double>(supernodes.width[s] + supernodes.below[s]);
        auto const wanted = static_cast<Index>(rows / (panels_per_worker * own_workers));
        Index const most = std::clamp(wanted / 16 * 16, narrowest_piece, widest.most);
        widths[s] = {most / 2, most};
    }
    return widths;
}

} // namespace espalier
