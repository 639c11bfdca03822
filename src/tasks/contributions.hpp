// The contributions to each branch of a single cblk: the branches below that update it. In: structure,
// partition and cost model. Out: lists by target, ascending by source, for the task graph and for the choice
// of owners. (A branch of several cblks is a whole subtree and receives no updates from other branches.)
#pragma once

#include <span>
#include <vector>

#include "mapping/branches.hpp"
#include "mapping/cost_model.hpp"

namespace espalier {

struct Contribution {
    BranchId source = 0;
    Offset first_facing = 0;      ///< The bloks of `source` that face the target:
    Offset end_facing = 0;        ///< structure.facing[first_facing .. end_facing).
    Index rows = 0;               ///< An upper bound of the rows of the target's panel that are updated.
    double seconds = 0;           ///< Duration of the update as a task of its own.
    double seconds_in_source = 0; ///< Duration right after `source`, as its branch counts it.
};

struct Contributions {
    std::vector<Offset> ptr{0}; ///< One entry for each branch, and one more.
    std::vector<Contribution> all;

    [[nodiscard]] std::span<Contribution const> to(BranchId target) const {
        return {all.data() + ptr[target], all.data() + ptr[target + 1]};
    }
};

/// Linear in the bloks. Kept cblks do not update other cblks.
Contributions find_contributions(BlockStructure const& structure, BranchPartition const& partition,
                                 CostModel const& model);

} // namespace espalier
