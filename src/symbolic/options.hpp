// What a caller of symbolic factorization can choose.
#pragma once

#include "core/interrupt.hpp"

namespace espalier {

struct SymbolicOptions {
    bool amalgamate = true;          ///< Merge supernodes where that saves time ...
    double amalgamation_fill = 0.15; ///< ... while the zeros stored stay below this part of the factor
    double max_extra_flops = 0.08;   ///< and the work on them below this part of its flops; 0: no zeros.
    // Both parts are of the factor with its supernodes' descriptions, so a factor of tiny supernodes may grow
    // more: a tridiagonal matrix several times, a 2D grid by a third, a 3D grid by a tenth.
    bool reorder_rows = true; ///< Reorder the columns inside supernodes so that bloks merge.
    Index max_width = 256;    ///< Split supernodes wider than this ...
    Index min_width = 128;    ///< ... into cblks of at least this width (which wins over max_width).
    /// So many vertices at the end of the ordering are kept: not eliminated, they become the one supernode of
    /// a Schur complement, dense whatever the edges between them (BlockStructure::first_kept_cblk).
    Index kept_vertices = 0;
    Interrupt* interrupt = nullptr; ///< Looked at between the steps: Error{cancelled}.
};

} // namespace espalier
