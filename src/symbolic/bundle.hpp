// Bundling: narrow supernodes that amalgamation could not merge into their parents are merged with their
// siblings. Input: supernodes; output: fewer supernodes. An arrow matrix has as many leaves as columns, a
// diagonal matrix as many roots, and minimum degree on the leaves of a dissection leaves single columns.
//
// The rows of siblings outside their parent's columns are rows of the parent, so any union of siblings is a
// valid supernode. It stores zeros between the siblings and where their rows differ.
#pragma once

#include "symbolic/merge_cost.hpp"
#include "symbolic/supernodes.hpp"

namespace espalier {

/// The maximum width of a bundle.
inline constexpr Index bundle_width = 16;

/// Merges neighbouring siblings, including roots, if the merged supernode costs less. `prices` are those at
/// which amalgamation met its bounds, so the bounds are hardly exceeded. With `keep_last` the last supernode
/// is not merged. Takes time linear in the rows of the supernodes.
Supernodes bundle_siblings(LowerPattern const& pattern, Supernodes const& supernodes,
                           MergePrices const& prices, bool keep_last = false);

} // namespace espalier
