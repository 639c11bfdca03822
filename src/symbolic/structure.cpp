#include "symbolic/structure.hpp"

#include <numeric>

namespace espalier {

RowStructure row_structure(LowerPattern const& pattern, Supernodes const& supernodes) {
    SupernodeId const num = supernodes.size();
    auto const supernode_of = supernode_of_vertex(supernodes);
    std::vector<SupernodeId> first_child(num, no_supernode);
    std::vector<SupernodeId> next_sibling(num, no_supernode);
    std::vector<SupernodeId> seen_by(supernode_of.size(), no_supernode);

    RowStructure result;
    result.ptr.reserve(num + 1);
    for (SupernodeId s = 0; s < num; ++s) {
        auto const add = [&](Vertex row) {
            if (seen_by[row] == s) return;
            seen_by[row] = s;
            result.rows.push_back(row);
        };
        for (Vertex v : supernodes.members_of(s)) seen_by[v] = s;
        for (SupernodeId c = first_child[s]; c != no_supernode; c = next_sibling[c])
            for (Offset k = result.ptr[c]; k < result.ptr[c + 1]; ++k)
                add(result.rows[k]); // add() reallocates
        for (Vertex v : supernodes.members_of(s))
            for (Vertex row : pattern.below(v)) add(row);
        result.ptr.push_back(std::ssize(result.rows));

        if (SupernodeId const p = supernodes.parent[s]; p != no_supernode) {
            next_sibling[s] = first_child[p];
            first_child[p] = s;
        }
    }
    return result;
}

FacingSets facing_sets(RowStructure const& structure, Supernodes const& supernodes) {
    SupernodeId const num = supernodes.size();
    auto const supernode_of = supernode_of_vertex(supernodes);
    std::vector<Vertex> position(
        supernode_of.size()); // by vertex: its place among the members of its supernode
    for (SupernodeId s = 0; s < num; ++s) {
        auto const members = supernodes.members_of(s);
        for (Vertex k = 0; k < std::ssize(members); ++k) position[members[k]] = k;
    }

    std::vector<Offset> element_ptr(num + 1, 0);
    std::vector<SupernodeId> last_owner(num, no_supernode);
    FacingSets result;
    result.set_ptr.assign(num + 1, 0);
    for (SupernodeId s = 0; s < num; ++s)
        for (Vertex row : structure.rows_of(s)) {
            SupernodeId const j = supernode_of[row];
            ++element_ptr[j + 1];
            if (last_owner[j] != s) ++result.set_ptr[j + 1];
            last_owner[j] = s;
        }
    std::partial_sum(element_ptr.begin(), element_ptr.end(), element_ptr.begin());
    std::partial_sum(result.set_ptr.begin(), result.set_ptr.end(), result.set_ptr.begin());

    // Owners are visited in ascending order, so the elements of each set are contiguous.
    result.sets.resize(result.set_ptr[num]);
    result.elements.resize(structure.rows.size());
    std::vector<Offset> next_set(result.set_ptr.begin(), result.set_ptr.end() - 1);
    last_owner.assign(num, no_supernode);
    for (SupernodeId s = 0; s < num; ++s)
        for (Vertex row : structure.rows_of(s)) {
            SupernodeId const j = supernode_of[row];
            if (last_owner[j] != s) {
                last_owner[j] = s;
                result.sets[next_set[j]++] = {s, element_ptr[j], element_ptr[j]};
            }
            result.elements[element_ptr[j]++] = position[row];
            ++result.sets[next_set[j] - 1].end;
        }
    return result;
}

} // namespace espalier
