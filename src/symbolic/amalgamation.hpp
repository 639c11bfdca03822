// Amalgamation: supernodes too small for dense kernels are merged into their parents, at the price of stored
// zeros. In: fundamental supernodes. Out: coarser ones, numbered in a postorder of the merged tree.
//
// Let child c have w_c columns and r_c rows below them, parent p likewise. The rows of c lie in the columns
// and rows of p, so the merged node has w_c + w_p columns and r_p rows, and stores
//
//     w_c (w_p + r_p - r_c)     zeros more.
//
// In exchange c costs no longer the fixed price of a supernode, nor the addition of its update matrix of
// r_c^2 / 2 entries into its ancestors (merge_cost.hpp). A merge without zeros is made always. The idea is
// that of Ashcraft and Grimes 1989, "The influence of relaxed supernode partitions on the multifrontal
// method".
#pragma once

#include <optional>

#include "symbolic/merge_cost.hpp"
#include "symbolic/options.hpp"
#include "symbolic/supernodes.hpp"

namespace espalier {

struct Amalgamated {
    Supernodes supernodes;
    /// The prices at which the bounds were met; none when only merges without zeros do.
    std::optional<MergePrices> prices;
};

/// One pass in postorder, each node trying its children, those with most rows first. The pass is repeated
/// with a higher price of stored zeros while the merges together exceed options.amalgamation_fill or
/// max_extra_flops. Nothing is merged into the last supernode where options.kept_vertices is not 0.
Amalgamated amalgamate(Supernodes const& fundamental, SymbolicOptions const& options);

} // namespace espalier
