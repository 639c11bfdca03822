// The order of columns inside supernodes. It does not change the panel of the supernode, but the rows of its
// descendants form fewer dense runs if columns in the structure of the same descendants are neighbours.
// Input: for each supernode the sets of its columns that are rows of its descendants; output: the members of
// each supernode in a new order, and the sets with the new positions.
//
// Partition refinement (Jacquelin, Ng, Peyton 2018, "Fast and effective reordering of columns within
// supernodes using partition refinement"): each set splits the parts that it intersects, and the elements in
// the set move next to a neighbouring part that the set also intersects. Takes time linear in the size of the
// sets. The travelling-salesman formulation of Pichon, Faverge, Ramet, Roman 2017 minimizes the same count in
// quadratic time.
#pragma once

#include "symbolic/structure.hpp"

namespace espalier {

/// Permutes the members inside each supernode and renumbers the elements of `sets` accordingly.
void reorder_columns(Supernodes& supernodes, FacingSets& sets);

} // namespace espalier
