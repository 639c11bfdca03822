#include "mapping/branches.hpp"

#include <limits>
#include <numeric>

namespace espalier {

BranchPartition cut_branches(BlockStructure const& structure, std::vector<double> const& costs, int workers,
                             double subtrees_per_worker) {
    auto const& cblks = structure.cblks;
    std::vector<double> subtree(costs);
    for (std::size_t k = 0; k < cblks.size(); ++k)
        if (cblks[k].parent != no_cblk) subtree[cblks[k].parent] += subtree[k];

    double const total = std::accumulate(costs.begin(), costs.end(), 0.0);
    double const limit =
        workers <= 1 ? std::numeric_limits<double>::infinity() : total / (workers * subtrees_per_worker);

    // A cblk is the root of a branch when its subtree is below the limit and its parent's is not, or when
    // its own subtree is above the limit (then it is a branch of one cblk). A kept cblk is above any limit.
    auto const below_limit = [&](CblkId k) { return k < structure.first_kept_cblk && subtree[k] <= limit; };
    BranchPartition partition;
    partition.branch_of_cblk.resize(cblks.size());
    for (std::size_t k = 0; k < cblks.size(); ++k) {
        auto const id = static_cast<CblkId>(k);
        bool const whole_subtree = below_limit(id);
        CblkId const parent = cblks[k].parent;
        bool const swallowed = whole_subtree && parent != no_cblk && below_limit(parent);
        if (swallowed) continue;
        Branch branch{whole_subtree ? cblks[k].first_descendant : id, id, 0};
        auto const number = static_cast<BranchId>(partition.branches.size());
        for (CblkId c = branch.first; c <= id; ++c) {
            branch.cost += costs[c];
            partition.branch_of_cblk[c] = number;
        }
        partition.branches.push_back(branch);
    }
    return partition;
}

} // namespace espalier
