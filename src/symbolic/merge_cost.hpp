// The cost model of amalgamation. Two supernodes are merged if the merged supernode costs no more than both.
#pragma once

#include "symbolic/column_counts.hpp"

namespace espalier {

/// Costs relative to one flop of a large gemm (about 1/30 ns).
struct MergePrices {
    double supernode = 1e5;    ///< Fixed cost of a supernode.
    double update_entry = 80;  ///< Cost per entry of the update matrix beyond its flops: the addition to the
                               ///< target, and the inefficiency of thin kernels.
    double stored_entry = 100; ///< Memory traffic per entry of the panel.
};

/// The cost of a supernode with `width` columns and `below` rows below them.
inline double supernode_cost(Index width, Index below, MergePrices const& prices) {
    auto const r = static_cast<double>(below);
    return prices.supernode + prices.update_entry * r * r / 2 + trapezoid_flops(width + below, width) +
           prices.stored_entry * static_cast<double>(trapezoid_entries(width + below, width));
}

} // namespace espalier
