#include "mapping/branches.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace espalier {

BranchPartition cut_branches(BlockStructure const& structure, std::vector<double> const& costs, int workers,
                             double subtrees_per_worker) {
    std::vector<double> subtree(costs);
    for (CblkId k = 0; k < structure.num_cblks(); ++k)
        if (CblkId const parent = structure.cblks[k].parent; parent != no_cblk) subtree[parent] += subtree[k];

    double const total = std::accumulate(costs.begin(), costs.end(), 0.0);
    double const limit =
        workers <= 1 ? std::numeric_limits<double>::infinity() : total / (workers * subtrees_per_worker);

    // A cblk is the root of a branch if its subtree is below the limit and that of its parent is not, or if
    // its own subtree is above the limit (then the branch has one cblk). A kept cblk is above any limit.
    auto const below_limit = [&](CblkId k) { return k < structure.first_kept_cblk && subtree[k] <= limit; };
    BranchPartition partition;
    partition.branch_of_cblk.resize(structure.num_cblks());
    auto const is_small_tree = [&](CblkId k) {
        return below_limit(k) && structure.cblks[k].parent == no_cblk;
    };
    for (CblkId k = 0; k < structure.num_cblks(); ++k) {
        Cblk const& cblk = structure.cblks[k];
        bool const whole_subtree = below_limit(k);
        if (whole_subtree && cblk.parent != no_cblk && below_limit(cblk.parent)) continue;
        Branch branch{whole_subtree ? cblk.first_descendant : k, k, 0};
        for (CblkId c = branch.first; c <= k; ++c) branch.cost += costs[c];
        auto& branches = partition.branches;
        if (is_small_tree(k) && !branches.empty() && is_small_tree(branches.back().root) &&
            branches.back().cost + branch.cost <= limit) {
            branches.back().root = k;
            branches.back().cost += branch.cost;
        } else {
            branches.push_back(branch);
        }
        std::fill(partition.branch_of_cblk.begin() + branch.first, partition.branch_of_cblk.begin() + k + 1,
                  static_cast<BranchId>(branches.size() - 1));
    }
    return partition;
}

} // namespace espalier
