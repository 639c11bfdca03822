// Lists of the children of every node of a forest.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "symbolic/supernodes.hpp"

namespace espalier {

/// The children of the nodes and the roots of a forest.
class Children {
  public:
    explicit Children(std::vector<SupernodeId> const& parent)
        : ptr_(parent.size() + 2, 0), list_(parent.size()) {
        auto const roots = static_cast<SupernodeId>(parent.size());
        auto const parent_of = [&](SupernodeId c) { return parent[c] == no_supernode ? roots : parent[c]; };
        for (SupernodeId c = 0; c < roots; ++c) ++ptr_[parent_of(c) + 1];
        std::partial_sum(ptr_.begin(), ptr_.end(), ptr_.begin());
        std::vector<SupernodeId> next(ptr_.begin(), ptr_.end() - 1);
        for (SupernodeId c = 0; c < roots; ++c) list_[next[parent_of(c)]++] = c;
    }
    /// Children of p, ascending.
    [[nodiscard]] std::span<SupernodeId const> of(SupernodeId p) const {
        return {list_.data() + ptr_[p], list_.data() + ptr_[p + 1]};
    }
    /// Roots of the forest, ascending.
    [[nodiscard]] std::span<SupernodeId const> roots() const {
        return of(static_cast<SupernodeId>(ptr_.size() - 2));
    }

  private:
    std::vector<SupernodeId> ptr_; // the last list contains the roots
    std::vector<SupernodeId> list_;
};

} // namespace espalier
