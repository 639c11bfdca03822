// The widths of the column blocks that wide supernodes are split into. Wide blocks compute fast; narrow ones
// give many workers something to do. Input: the tree of supernodes and the number of workers; output: bounds
// for the pieces of each supernode.
#pragma once

#include <vector>

#include "symbolic/supernodes.hpp"

namespace espalier {

/// Bounds of the number of columns of a piece of a supernode.
struct PieceWidths {
    Index least = 128;
    Index most = 256;
    bool operator==(PieceWidths const&) const = default;
};

/// Equal bounds for all supernodes.
std::vector<PieceWidths> uniform_widths(Supernodes const& supernodes, PieceWidths const& bounds);

/// Bounds for `workers` workers. A supernode is worked on by as many of them as the share of its subtree in
/// the work. The panels of a supernode depend on each other: the more workers it has, the narrower are its
/// pieces, down to narrowest_piece. With one worker all supernodes have the bounds of PieceWidths. Linear.
std::vector<PieceWidths> widths_for_workers(Supernodes const& supernodes, int workers);

/// Kernels on narrower panels are too slow for this to pay.
inline constexpr Index narrowest_piece = 96;

} // namespace espalier
