// Supernodes: sets of vertices whose columns are stored together as one dense panel. Input: the postordered
// elimination tree with its column counts; output: the fundamental supernodes (Liu, Ng, Peyton 1993), which
// are chains of the tree in which each vertex is the only child of the next, and has exactly one additional
// row, itself.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "symbolic/pattern.hpp"

namespace espalier {

using SupernodeId = std::int32_t;
inline constexpr SupernodeId no_supernode = -1;

/// A partition of the vertices into supernodes, numbered in a postorder of their tree: parent[s] > s, and the
/// supernodes of a subtree are consecutive.
struct Supernodes {
    std::vector<Vertex> member_ptr{0}; ///< size() + 1 entries.
    std::vector<Vertex> members;       ///< Vertices of s in column order: members[member_ptr[s] .. [s + 1]).
    std::vector<SupernodeId> parent;   ///< no_supernode for a root.
    std::vector<Index> width;          ///< Number of columns, the sum of the weights of the members.
    std::vector<Index> below;          ///< Number of rows below the columns.

    [[nodiscard]] SupernodeId size() const { return static_cast<SupernodeId>(parent.size()); }
    [[nodiscard]] Vertex num_members(SupernodeId s) const { return member_ptr[s + 1] - member_ptr[s]; }
    [[nodiscard]] std::span<Vertex const> members_of(SupernodeId s) const {
        return {members.data() + member_ptr[s], members.data() + member_ptr[s + 1]};
    }
    [[nodiscard]] std::span<Vertex> members_of(SupernodeId s) {
        return {members.data() + member_ptr[s], members.data() + member_ptr[s + 1]};
    }
};

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
    [[nodiscard]] std::span<SupernodeId const> of(SupernodeId p) const {
        return {list_.data() + ptr_[p], list_.data() + ptr_[p + 1]};
    }
    [[nodiscard]] std::span<SupernodeId const> roots() const {
        return of(static_cast<SupernodeId>(ptr_.size() - 2));
    }

  private:
    std::vector<SupernodeId> ptr_; // the last list contains the roots
    std::vector<SupernodeId> list_;
};

/// The fundamental supernodes for a postordered tree and its column counts. The last `kept` vertices
/// (chain_last()), if any, form one supernode.
Supernodes fundamental_supernodes(LowerPattern const& pattern, std::span<Vertex const> parent,
                                  std::span<Index const> count, Vertex kept = 0);

/// Merges groups of supernodes. group_of[s] is the last supernode of the group of s; its parent becomes the
/// parent of the group. below[g] is the number of rows below group g. The members of a group keep their
/// order, so descendants precede ancestors; the groups are renumbered in postorder.
Supernodes coarsen(Supernodes const& fine, std::span<SupernodeId const> group_of,
                   std::span<Index const> below);

std::vector<SupernodeId> supernode_of_vertex(Supernodes const& supernodes);

} // namespace espalier
