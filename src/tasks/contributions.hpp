// Who contributes to whom: for each branch of one cblk the branches below that update it. In: structure,
// partition and cost model. Out: lists by target, ascending in the source, which the task graph and the
// choice of owners read. (A branch of several cblks is a whole subtree, and nobody updates it from outside.)
#pragma once

#include <span>
#include <vector>

#include "mapping/branches.hpp"
#include "mapping/cost_model.hpp"

namespace espalier {

struct Contribution {
    BranchId source = 0;
    Offset first_facing = 0; ///< The bloks of `source` that face the target:
    Offset end_facing = 0;   ///< structure.facing[first_facing .. end_facing).
    Index rows = 0;          ///< Rows of the target's panel that they reach, at most.
    double seconds = 0;      ///< Of the update.
};

struct Contributions {
    std::vector<Offset> ptr{0}; ///< One entry a branch, and one.
    std::vector<Contribution> all;

    [[nodiscard]] std::span<Contribution const> to(BranchId target) const {
        auto const t = static_cast<std::size_t>(target);
        return {all.data() + ptr[t], all.data() + ptr[t + 1]};
    }
};

/// Linear in the bloks. Kept cblks receive and give nothing.
Contributions find_contributions(BlockStructure const& structure, BranchPartition const& partition,
                                 CostModel const& model);

} // namespace espalier
