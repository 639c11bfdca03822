// The children of every node of a forest, as lists.
#pragma once

#include <span>
#include <vector>

#include "symbolic/supernodes.hpp"

namespace espalier {

class Children {
  public:
    explicit Children(std::vector<SupernodeId> const& parent)
        : ptr_(parent.size() + 2, 0), list_(parent.size()) {
        auto const roots = static_cast<SupernodeId>(parent.size());
        auto const parent_of = [&](std::size_t c) { return parent[c] == no_supernode ? roots : parent[c]; };
        for (std::size_t c = 0; c < parent.size(); ++c) ++ptr_[parent_of(c) + 1];
        for (std::size_t p = 1; p < ptr_.size(); ++p) ptr_[p] += ptr_[p - 1];
        std::vector<SupernodeId> next(ptr_.begin(), ptr_.end() - 1);
        for (std::size_t c = 0; c < parent.size(); ++c)
            list_[next[parent_of(c)]++] = static_cast<SupernodeId>(c);
    }
    /// Ascending.
    [[nodiscard]] std::span<SupernodeId const> of(SupernodeId p) const {
        return {list_.data() + ptr_[p], list_.data() + ptr_[p + 1]};
    }
    [[nodiscard]] std::span<SupernodeId const> roots() const {
        return of(static_cast<SupernodeId>(ptr_.size() - 2));
    }

  private:
    std::vector<SupernodeId> ptr_; ///< The last list is that of the roots.
    std::vector<SupernodeId> list_;
};

} // namespace espalier
