// The time model that decides whether to factorize without supernodes.
#pragma once

#include <algorithm>
#include <cmath>

namespace espalier {

/// Seconds for each entry, column and operation of the factors. Comparisons add up a refactorization, a solve
/// and, with supernodes, a tenth of the additional time of their analysis.
struct Rates {
    double entry, column, flop;

    [[nodiscard]] double seconds(double entries, double columns, double flops) const {
        return entry * entries + column * columns + flop * flops;
    }
};

/// The number of operations above which supernodes are faster in any case, if f operations belong to at most
/// `entries` + `entries_per_root` sqrt(f) entries: the largest f with equal times.
inline double most_useful_flops(Rates const& single, Rates const& supernodal, double columns, double entries,
                                double entries_per_root) {
    double const per_entry = std::max(0.0, supernodal.entry - single.entry);
    double const slope = single.flop - supernodal.flop, root = per_entry * entries_per_root;
    double const constant = per_entry * entries + (supernodal.column - single.column) * columns;
    double const root_of_flops = (root + std::sqrt(root * root + 4 * slope * constant)) / (2 * slope);
    return root_of_flops * root_of_flops;
}

} // namespace espalier
