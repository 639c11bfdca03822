// Bundling: what amalgamation leaves narrow, because its parent is too tall to take it, is merged with its
// siblings. In: supernodes. Out: fewer of them. An arrow matrix has as many leaves as columns, a diagonal one
// as many roots, and every ordering by minimum degree on the leaves of a dissection leaves single columns
// behind.
//
// The rows of siblings outside their parent's columns are rows of the parent, so any union of siblings is a
// correct supernode; it stores zeros between the siblings, and where their rows differ.
#pragma once

#include "symbolic/merge_cost.hpp"
#include "symbolic/supernodes.hpp"

namespace espalier {

/// Bundles grow no wider than this.
inline constexpr Index bundle_width = 16;

/// Merges neighbouring siblings (roots are siblings too) where the merged supernode costs less. With the
/// prices at which amalgamation met its bounds, few zeros arise beyond them. With `keep_last` the last
/// supernode is left alone. Linear in the rows of the supernodes.
Supernodes bundle_siblings(LowerPattern const& pattern, Supernodes const& supernodes,
                           MergePrices const& prices, bool keep_last = false);

} // namespace espalier
