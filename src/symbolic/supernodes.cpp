#include "symbolic/supernodes.hpp"

#include <numeric>

#include "core/inverse_permutation.hpp"
#include "symbolic/etree.hpp"

namespace espalier {

Supernodes fundamental_supernodes(LowerPattern const& pattern, std::span<Vertex const> parent,
                                  std::span<Index const> count, Vertex kept) {
    Vertex const n = pattern.num_vertices();
    Vertex const first_kept = n - kept;
    std::vector<Vertex> num_children(n, 0);
    for (Vertex v = 0; v < n; ++v)
        if (parent[v] != no_vertex) ++num_children[parent[v]];

    Supernodes result;
    result.members.resize(n);
    std::iota(result.members.begin(), result.members.end(), 0);
    std::vector<SupernodeId> supernode_of(n);
    auto const continues = [&](Vertex v) { // whether v belongs to the supernode of v - 1
        if (v == 0 || v == first_kept) return false;
        return v > first_kept || (parent[v - 1] == v && num_children[v] == 1 &&
                                  count[v - 1] == count[v] + pattern.weight[v - 1]);
    };
    for (Vertex v = 0; v < n; ++v) {
        if (!continues(v)) {
            if (v > 0) result.member_ptr.push_back(v);
            result.width.push_back(0);
            result.below.push_back(0);
        }
        result.width.back() += pattern.weight[v];
        result.below.back() = count[v] - pattern.weight[v];
        supernode_of[v] = static_cast<SupernodeId>(result.width.size() - 1);
    }
    if (n > 0) result.member_ptr.push_back(n);

    result.parent.resize(result.width.size());
    for (SupernodeId s = 0; s < result.size(); ++s) {
        Vertex const above = parent[result.member_ptr[s + 1] - 1];
        result.parent[s] = above == no_vertex ? no_supernode : supernode_of[above];
    }
    return result;
}

Supernodes coarsen(Supernodes const& fine, std::span<SupernodeId const> group_of,
                   std::span<Index const> below) {
    std::vector<SupernodeId> groups;
    std::vector<SupernodeId> number(group_of.size(), no_supernode); // by group
    for (SupernodeId s = 0; s < fine.size(); ++s)
        if (group_of[s] == s) {
            number[s] = static_cast<SupernodeId>(groups.size());
            groups.push_back(s);
        }
    std::vector<SupernodeId> parent(groups.size(), no_supernode);
    for (Index k = 0; k < std::ssize(groups); ++k)
        if (SupernodeId const p = fine.parent[groups[k]]; p != no_supernode) parent[k] = number[group_of[p]];

    auto const post = postorder(parent);
    auto const position = inverse_permutation(post);
    auto const new_number = [&](SupernodeId s) { return position[number[group_of[s]]]; };
    Supernodes result;
    result.parent = relabel_forest(parent, post);
    result.width.assign(post.size(), 0);
    result.member_ptr.assign(post.size() + 1, 0);
    for (SupernodeId s = 0; s < fine.size(); ++s) {
        result.width[new_number(s)] += fine.width[s];
        result.member_ptr[new_number(s) + 1] += fine.num_members(s);
    }
    for (SupernodeId const k : post) result.below.push_back(below[groups[k]]);
    std::partial_sum(result.member_ptr.begin(), result.member_ptr.end(), result.member_ptr.begin());
    result.members.resize(fine.members.size());
    std::vector<Vertex> next(result.member_ptr.begin(), result.member_ptr.end() - 1);
    for (SupernodeId s = 0; s < fine.size(); ++s)
        for (Vertex const v : fine.members_of(s)) result.members[next[new_number(s)]++] = v;
    return result;
}

std::vector<SupernodeId> supernode_of_vertex(Supernodes const& supernodes) {
    std::vector<SupernodeId> supernode_of(supernodes.members.size());
    for (SupernodeId s = 0; s < supernodes.size(); ++s)
        for (Vertex v : supernodes.members_of(s)) supernode_of[v] = s;
    return supernode_of;
}

} // namespace espalier
