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
    bool last_has_trees = false; // whether the last branch has whole trees
    for (CblkId k = 0; k < structure.num_cblks(); ++k) {
        Cblk const& cblk = structure.cblks[k];
        bool const whole_subtree = below_limit(k);
        if (whole_subtree && cblk.parent != no_cblk && below_limit(cblk.parent)) continue;
        Branch branch{whole_subtree ? cblk.first_descendant : k, k, 0};
        for (CblkId c = branch.first; c <= k; ++c) branch.cost += costs[c];
        bool const is_tree = whole_subtree && cblk.parent == no_cblk;
        if (is_tree && last_has_trees && partition.branches.back().cost + branch.cost <= limit) {
            partition.branches.back().root = k;
            partition.branches.back().cost += branch.cost;
        } else {
            partition.branches.push_back(branch);
        }
        last_has_trees = is_tree;
        std::fill(partition.branch_of_cblk.begin() + branch.first, partition.branch_of_cblk.begin() + k + 1,
                  static_cast<BranchId>(partition.branches.size() - 1));
    }
    return partition;
}

} // namespace espalier
