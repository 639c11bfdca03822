// Checks of the arguments of solves.
#pragma once

#include "symbolic/block_structure.hpp"

namespace espalier {

/// Error{usage} if the factor has kept cblks.
void require_all_eliminated(BlockStructure const& structure);
/// Error{usage} unless `rows` is structure.vector_rows() and ld >= rows.
void require_shape(BlockStructure const& structure, Index rows, Index cols, Index ld);

} // namespace espalier
