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
// entries to its ancestors. A merge that stores no zeros is always made. Follows Ashcraft
// and Grimes 1989, "The influence of relaxed supernode partitions on the multifrontal method".
//
// Bundling: narrow supernodes that amalgamation could not merge into their parents are merged with their
// siblings. Input: supernodes; output: fewer supernodes. An arrow matrix has as many leaves as columns, a
// diagonal matrix as many roots, and minimum degree on the leaves of a dissection leaves single columns.
//
// The rows of siblings outside their parent's columns are rows of the parent, so any union of siblings is a
// valid supernode. It stores zeros between the siblings and where their rows differ.
#pragma once

#include <optional>

#include "symbolic/column_counts.hpp"
#include "symbolic/options.hpp"
#include "symbolic/supernodes.hpp"

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

inline constexpr Index bundle_width = 16;

/// Merges neighboring siblings, including roots, if the merged supernode costs less. `prices` are those at
/// which amalgamation met its bounds, so the bounds are hardly exceeded. With `keep_last` the last supernode
/// is not merged. Takes time linear in the rows of the supernodes.
Supernodes bundle_siblings(LowerPattern const& pattern, Supernodes const& supernodes,
                           MergePrices const& prices, bool keep_last = false);

} // namespace espalier
