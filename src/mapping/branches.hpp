// Branches of the elimination tree: contiguous ranges of cblks that one worker factorizes as one task. A
// branch is a whole subtree (below the cut) or a single cblk (above it). Consecutive small trees of a forest
// are one branch, so that thousands of them are not thousands of tasks. For one worker there is one branch.
// The kept cblks of a Schur complement are always branches of their own, and so are the subtrees below them.
#pragma once

#include <vector>

#include "symbolic/block_structure.hpp"

namespace espalier {

using BranchId = std::int32_t;

struct Branch {
    CblkId first = 0; ///< Cblks [first, root].
    CblkId root = 0;  ///< The root of the subtree. If there are several trees, the root of the last one.
    double cost = 0; ///< Seconds of its cblks, their updates of other branches included.
};

struct BranchPartition {
    std::vector<Branch> branches; ///< Ascending by cblks, so children come before parents.
    std::vector<BranchId> branch_of_cblk;
};

/// Each maximal subtree that costs at most total / (workers * subtrees_per_worker) becomes a branch, and so
/// do consecutive whole trees that cost as much together. The other cblks, and kept cblks, are branches of
/// their own. `costs` has one entry for each cblk. Linear.
BranchPartition cut_branches(BlockStructure const& structure, std::vector<double> const& costs, int workers,
                             double subtrees_per_worker = 3);

} // namespace espalier
