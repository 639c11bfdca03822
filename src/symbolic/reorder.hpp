// The order of columns inside supernodes. Any order of the columns of one supernode gives the same panels,
// but the rows of its descendants fall into fewer dense runs when columns that the same descendants reach are
// neighbours. In: for each supernode the sets of its columns that descendants reach. Out: the members of each
// supernode in a new order, and the sets in the new positions.
//
// Partition refinement (Jacquelin, Ng, Peyton 2018, "Fast and effective reordering of columns within
// supernodes using partition refinement"): each set splits the parts that it cuts, and its side of a cut part
// is put next to the neighbouring part that it also reaches. Linear in the size of the sets. (The
// travelling-salesman formulation of Pichon, Faverge, Ramet, Roman 2017 minimises the same count, at a
// quadratic price.)
#pragma once

#include "symbolic/structure.hpp"

namespace espalier {

/// Permutes the members inside each supernode and renumbers the elements of `sets` accordingly.
void reorder_columns(Supernodes& supernodes, FacingSets& sets);

} // namespace espalier
