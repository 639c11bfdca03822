// What a supernode costs: the model by which amalgamation decides. Two supernodes are merged when the merged
// one costs no more than both.
#pragma once

#include "symbolic/column_counts.hpp"

namespace espalier {

/// Prices in units of one flop inside a large gemm (about 1/30 ns).
struct MergePrices {
    double supernode = 1e5;    ///< What a supernode costs before it computes anything.
    double update_entry = 80;  ///< An entry of the update matrix, beyond its flops: it is added into its
                               ///< target, and computed by kernels too thin to be fast.
    double stored_entry = 100; ///< Memory traffic of an entry of the panel.
};

/// Of a supernode with `width` columns and `below` rows below them.
inline double supernode_cost(Index width, Index below, MergePrices const& prices) {
    auto const r = static_cast<double>(below);
    return prices.supernode + prices.update_entry * r * r / 2 + trapezoid_flops(width + below, width) +
           prices.stored_entry * static_cast<double>(trapezoid_entries(width + below, width));
}

} // namespace espalier
