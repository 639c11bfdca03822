// Options of the symbolic factorization.
#pragma once

#include "core/interrupt.hpp"

namespace espalier {

struct SymbolicOptions {
    bool amalgamate = true; ///< Merge supernodes if that saves time.
    // The following limits are relative to a factor that includes the descriptions of its supernodes, so a
    // factor with tiny supernodes may grow more: that of a tridiagonal matrix several times, of a 2D grid by
    // a third, of a 3D grid by a tenth.
    double amalgamation_fill = 0.08; ///< Limit of the stored zeros, relative to the entries of the factor.
    double max_extra_flops = 0.08;   ///< Limit of the work on zeros, relative to the flops; 0: no zeros.
    bool reorder_rows = true;        ///< Reorder the columns inside supernodes so that bloks merge.
    Index max_width = 256;           ///< Split wider supernodes into several cblks.
    /// Minimum width of these cblks, at most max_width. They are wider than max_width if both cannot hold.
    Index min_width = 128;
    /// Number of vertices at the end of the ordering that are not eliminated. They become one dense
    /// supernode, the Schur complement (BlockStructure::first_kept_cblk).
    Index kept_vertices = 0;
    Interrupt* interrupt = nullptr; ///< Checked between the steps, throws Error{cancelled}; may be null.
};

} // namespace espalier
