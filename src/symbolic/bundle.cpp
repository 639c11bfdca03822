#include "symbolic/bundle.hpp"

#include "symbolic/children.hpp"
#include "symbolic/structure.hpp"

namespace espalier {

namespace {

class Bundling {
  public:
    Bundling(LowerPattern const& pattern, Supernodes const& supernodes, MergePrices const& prices)
        : pattern_(pattern), fine_(supernodes), structure_(row_structure(pattern, supernodes)),
          prices_(prices), top_(supernodes.parent.size()), below_(supernodes.below),
          seen_by_(supernodes.members.size(), no_supernode) {}

    Supernodes run(bool keep_last) {
        Children const children(fine_.parent);
        for (SupernodeId s = 0; s < fine_.size(); ++s) top_[s] = s;
        for (SupernodeId p = 0; p < fine_.size(); ++p) bundle(children.of(p));
        auto const roots = children.roots(); // the last root is the last supernode
        bundle(keep_last ? roots.first(roots.size() - 1) : roots);
        return coarsen(fine_, top_, below_);
    }

  private:
    // Numbers each bundle by its last member, as coarsen() requires.
    void bundle(std::span<SupernodeId const> siblings) {
        members_.clear();
        for (SupernodeId s : siblings) {
            if (fine_.width[s] >= bundle_width) continue;
            if (!members_.empty() && !fits(s)) members_.clear();
            if (members_.empty()) {
                stamp_ = s;
                width_ = rows_ = 0;
            }
            rows_ += new_rows(s);
            for (Vertex v : structure_.rows_of(s)) seen_by_[v] = stamp_;
            width_ += fine_.width[s];
            members_.push_back(s);
            for (SupernodeId m : members_) top_[m] = s;
            below_[s] = rows_;
        }
    }

    [[nodiscard]] bool fits(SupernodeId s) const {
        Index const width = width_ + fine_.width[s];
        return width <= bundle_width && supernode_cost(width, rows_ + new_rows(s), prices_) <=
                                            supernode_cost(width_, rows_, prices_) +
                                                supernode_cost(fine_.width[s], fine_.below[s], prices_);
    }

    [[nodiscard]] Index new_rows(SupernodeId s) const {
        Index rows = 0;
        for (Vertex v : structure_.rows_of(s))
            if (seen_by_[v] != stamp_) rows += pattern_.weight[v];
        return rows;
    }

    LowerPattern const& pattern_;
    Supernodes const& fine_;
    RowStructure const structure_;
    MergePrices const prices_;
    std::vector<SupernodeId> top_;
    std::vector<Index> below_;
    std::vector<SupernodeId> seen_by_; // the stamp of the last bundle with this row
    std::vector<SupernodeId> members_; // of the current bundle, at most bundle_width
    SupernodeId stamp_ = no_supernode;
    Index width_ = 0;
    Index rows_ = 0;
};

} // namespace

Supernodes bundle_siblings(LowerPattern const& pattern, Supernodes const& supernodes,
                           MergePrices const& prices, bool keep_last) {
    return Bundling(pattern, supernodes, prices).run(keep_last);
}

} // namespace espalier
