#include "tasks/contributions.hpp"

#include <algorithm>

namespace espalier {

Contributions find_contributions(BlockStructure const& structure, BranchPartition const& partition,
                                 CostModel const& model) {
    auto const owner_at = [&](Offset position) {
        return structure.owner_of_blok[structure.facing[position]];
    };
    Contributions result;
    auto& all = result.all;
    result.ptr.reserve(partition.branches.size() + 1);
    for (Branch const& branch : partition.branches) {
        bool const is_cblk = branch.first == branch.root;
        Offset const begin = structure.facing_ptr[branch.root], end = structure.facing_ptr[branch.root + 1];
        // Kept cblks come last and update no other cblk.
        for (Offset f = begin; is_cblk && f < end && owner_at(f) < structure.first_kept_cblk;) {
            BranchId const source = partition.branch_of_cblk[owner_at(f)];
            if (f == begin || all.back().source != source) all.push_back({source, f, f, 0, 0, 0});
            Contribution& one = all.back();
            // The bloks of a cblk form one update.
            UpdateShape shape = update_shape(structure, structure.cblks[owner_at(f)], structure.facing[f]);
            one.seconds_in_source += model.update(shape);
            shape.is_cold = true;
            one.seconds += model.update(shape);
            // The rows of a subtree that lie outside it are all among those of its root.
            one.rows = std::max(one.rows, shape.rows);
            f += shape.bloks;
            one.end_facing = f;
        }
        result.ptr.push_back(static_cast<Offset>(all.size()));
    }
    return result;
}

} // namespace espalier
