// Cutting the elimination tree into branches: contiguous ranges of cblks that one worker factorizes as one
// task. A branch is either a whole subtree (below the cut) or a single cblk (above it). For one worker each
// tree of the forest is a single branch; the kept cblks of a Schur complement are always branches of their
// own, and what is left of their tree without them is a forest too.
#pragma once

#include <vector>

#include "symbolic/block_structure.hpp"

namespace espalier {

using BranchId = std::int32_t;

struct Branch {
    CblkId first = 0; ///< Cblks [first, root].
    CblkId root = 0;
    double cost = 0; ///< Seconds of its own cblks, contributions to elsewhere included.
};

struct BranchPartition {
    std::vector<Branch> branches; ///< By ascending cblks; children before parents.
    std::vector<BranchId> branch_of_cblk;
};

/// Subtrees that cost at most total / (workers * subtrees_per_worker) become one branch; what lies above
/// them is cut into single cblks, and so are kept cblks. `costs` has one entry a cblk. Linear in the cblks.
BranchPartition cut_branches(BlockStructure const& structure, std::vector<double> const& costs, int workers,
                             double subtrees_per_worker = 3);

} // namespace espalier
