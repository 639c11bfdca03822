// Amalgamation: supernodes that are too small for dense kernels are merged into their parents, which stores
// zeros. Input: fundamental supernodes; output: larger supernodes, numbered in a postorder of the merged
// tree.
//
// Let child c have w_c columns and r_c rows below them, and parent p likewise. The rows of c are columns or
// rows of p, so the merged node has w_c + w_p columns and r_p rows below them, and stores
//
//     w_c (w_p + r_p - r_c)     additional zeros.
//
// In return, the merge saves the fixed cost of supernode c and the addition of its update matrix of r_c^2 / 2
// entries to its ancestors (merge_cost.hpp). A merge that stores no zeros is always made. Follows Ashcraft
// and Grimes 1989, "The influence of relaxed supernode partitions on the multifrontal method".
#pragma once

#include <optional>

#include "symbolic/merge_cost.hpp"
#include "symbolic/options.hpp"
#include "symbolic/supernodes.hpp"

namespace espalier {

/// The result of amalgamation.
struct Amalgamated {
    Supernodes supernodes; ///< The merged supernodes.
    /// The prices at which the merges meet the bounds; nothing if only merges without zeros do.
    std::optional<MergePrices> prices;
};

/// Visits the nodes in postorder and tries to merge each with its children, those with most rows first. The
/// pass is repeated with a higher price of stored entries while all merges together exceed
/// options.amalgamation_fill or options.max_extra_flops. Nothing is merged into the last supernode if
/// options.kept_vertices > 0.
Amalgamated amalgamate(Supernodes const& fundamental, SymbolicOptions const& options);

} // namespace espalier
