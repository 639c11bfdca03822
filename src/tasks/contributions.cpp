#include "tasks/contributions.hpp"

#include <algorithm>

namespace espalier {

namespace {

class Finder {
  public:
    Finder(BlockStructure const& structure, BranchPartition const& partition, CostModel const& model)
        : structure_(structure), partition_(partition), model_(model) {}

    void append_contributions_to(CblkId target, std::vector<Contribution>& list) const {
        Offset const begin = structure_.facing_ptr[target], end = structure_.facing_ptr[target + 1];
        // Kept cblks come last and update no other cblk.
        for (Offset f = begin; f < end && owner_at(f) < structure_.first_kept_cblk;) {
            BranchId const source = partition_.branch_of_cblk[owner_at(f)];
            if (list.empty() || list.back().end_facing != f || list.back().source != source || f == begin)
                list.push_back({source, f, f, 0, 0});
            extend(list.back());
            f = list.back().end_facing;
        }
    }

  private:
    [[nodiscard]] CblkId owner_at(Offset position) const {
        BlokId const b = structure_.facing[position];
        return structure_.owner_of_blok[b];
    }

    // Adds the bloks of the next cblk, which form one update.
    void extend(Contribution& one) const {
        Cblk const& owner = structure_.cblks[owner_at(one.end_facing)];
        BlokId const first = structure_.facing[one.end_facing];
        UpdateShape const shape = update_shape(structure_, owner, first);
        one.seconds += model_.update(shape);
        // The rows of a subtree that lie outside it are all among those of its root.
        one.rows = std::max(one.rows, shape.rows);
        one.end_facing += shape.bloks;
    }

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    CostModel const& model_;
};

} // namespace

Contributions find_contributions(BlockStructure const& structure, BranchPartition const& partition,
                                 CostModel const& model) {
    Finder const finder(structure, partition, model);
    Contributions result;
    result.ptr.reserve(partition.branches.size() + 1);
    for (Branch const& branch : partition.branches) {
        if (branch.first == branch.root) finder.append_contributions_to(branch.root, result.all);
        result.ptr.push_back(static_cast<Offset>(result.all.size()));
    }
    return result;
}

} // namespace espalier
