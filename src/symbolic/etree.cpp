#include "symbolic/etree.hpp"

#include <numeric>

#include "core/inverse_permutation.hpp"

namespace espalier {

std::vector<Vertex> elimination_tree(Graph const& graph, Ordering const& ordering) {
    auto const n = static_cast<Vertex>(graph.num_vertices);
    std::vector<Vertex> parent(n, no_vertex);
    std::vector<Vertex> ancestor(n, no_vertex);
    for (Vertex j = 0; j < n; ++j) {
        Index const old = ordering.inverse[j];
        for (Index const neighbor : graph.neighbors(old)) {
            auto i = static_cast<Vertex>(ordering.perm[neighbor]);
            while (i < j) {
                Vertex const next = ancestor[i];
                ancestor[i] = j; // path compression
                if (next == no_vertex) {
                    parent[i] = j;
                    break;
                }
                i = next;
            }
        }
    }
    return parent;
}

void chain_last(std::span<Vertex> parent, Vertex kept) {
    auto const n = static_cast<Vertex>(parent.size());
    for (Vertex v = n - kept; v < n; ++v) parent[v] = v + 1 < n ? v + 1 : no_vertex;
}

std::vector<Vertex> postorder(std::span<Vertex const> parent) {
    std::vector<Vertex> ascending(parent.size());
    std::iota(ascending.begin(), ascending.end(), 0);
    return postorder(parent, ascending);
}

std::vector<Vertex> postorder(std::span<Vertex const> parent, std::span<Vertex const> sibling_order) {
    auto const n = static_cast<Vertex>(parent.size());
    // A virtual node n is the parent of all roots. Each node is inserted in front of its siblings, so
    // inserting the nodes in reverse order sorts the lists by sibling_order.
    std::vector<Vertex> first_child(n + 1, no_vertex);
    std::vector<Vertex> next_sibling(n, no_vertex);
    auto const parent_of = [&](Vertex v) { return parent[v] == no_vertex ? n : parent[v]; };
    for (Vertex k = n; k-- > 0;) {
        Vertex const v = sibling_order[k];
        next_sibling[v] = first_child[parent_of(v)];
        first_child[parent_of(v)] = v;
    }

    // first_child[v] advances as the children of v are visited, so no stack is needed.
    std::vector<Vertex> order;
    order.reserve(n);
    Vertex v = n;
    while (true) {
        if (Vertex const child = first_child[v]; child != no_vertex) {
            first_child[v] = next_sibling[child];
            v = child;
        } else if (v == n) {
            return order;
        } else {
            order.push_back(v);
            v = parent_of(v);
        }
    }
}

Ordering compose(Ordering const& ordering, std::span<Vertex const> post) {
    Ordering composed{std::vector<Index>(post.size()), std::vector<Index>(post.size())};
    for (Index k = 0; k < std::ssize(post); ++k) {
        Index const old = ordering.inverse[post[k]];
        composed.inverse[k] = old;
        composed.perm[old] = k;
    }
    return composed;
}

std::vector<Vertex> relabel_forest(std::span<Vertex const> parent, std::span<Vertex const> post) {
    auto const position = inverse_permutation(post);
    std::vector<Vertex> relabeled(parent.size(), no_vertex);
    for (Vertex k = 0; k < std::ssize(post); ++k)
        if (Vertex const p = parent[post[k]]; p != no_vertex) relabeled[k] = position[p];
    return relabeled;
}

} // namespace espalier
