// What every kind of solve refuses.
#pragma once

#include "symbolic/block_structure.hpp"

namespace espalier {

/// Error{usage} when cblks are kept.
void require_all_eliminated(BlockStructure const& structure);
/// Error{usage} unless `rows` is n and columns so far apart do not overlap.
void require_shape(BlockStructure const& structure, Index rows, Index cols, Index ld);

} // namespace espalier
