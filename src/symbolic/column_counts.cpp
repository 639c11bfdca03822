#include "symbolic/column_counts.hpp"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

// Disjoint sets of visited vertices. The representative of the set of v is the lowest ancestor of v (or v
// itself) that is not linked to its parent yet.
class AncestorSets {
  public:
    explicit AncestorSets(Vertex n) : link_(n) { std::iota(link_.begin(), link_.end(), 0); }
    void link(Vertex v, Vertex parent) { link_[v] = parent; }
    Vertex find(Vertex v) {
        while (link_[v] != v) {
            link_[v] = link_[link_[v]]; // path halving
            v = link_[v];
        }
        return v;
    }

  private:
    std::vector<Vertex> link_;
};

// first[j] is the first descendant of j in postorder.
std::vector<Vertex> first_descendants(std::span<Vertex const> parent) {
    auto const n = static_cast<Vertex>(parent.size());
    std::vector<Vertex> first(n);
    std::iota(first.begin(), first.end(), 0);
    for (Vertex j = 0; j < n; ++j)
        if (parent[j] != no_vertex) first[parent[j]] = std::min(first[parent[j]], first[j]);
    return first;
}

// The vertices with i in their structure form a subtree rooted at i, the row subtree. The count of a vertex
// is the sum of the weights of the row subtrees that contain it. It results from +w at each leaf of a row
// subtree, -w at the least common ancestor of two consecutive leaves, and -w at the parent of its root,
// summed over the subtree of the vertex.
std::vector<Index> count_rows(LowerPattern const& pattern, std::span<Vertex const> parent) {
    Vertex const n = pattern.num_vertices();
    auto const first = first_descendants(parent);
    std::vector<Index> count(n, 0);
    std::vector<Vertex> last_first(n, no_vertex); // first descendant of the last leaf seen in i's row subtree
    std::vector<Vertex> last_leaf(n, no_vertex);
    AncestorSets passed(n);
    for (Vertex j = 0; j < n; ++j) {
        if (first[j] == j) count[j] += pattern.weight[j]; // the row subtree of a leaf is the leaf itself
        for (Vertex i : pattern.below(j)) {
            if (first[j] <= last_first[i]) continue; // an earlier leaf lies below j
            count[j] += pattern.weight[i];
            if (last_leaf[i] != no_vertex) count[passed.find(last_leaf[i])] -= pattern.weight[i];
            last_first[i] = first[j];
            last_leaf[i] = j;
        }
        if (parent[j] != no_vertex) {
            count[parent[j]] -= pattern.weight[j];
            passed.link(j, parent[j]);
        }
    }
    for (Vertex j = 0; j < n; ++j)
        if (parent[j] != no_vertex) count[parent[j]] += count[j];
    return count;
}

Index height_in_columns(LowerPattern const& pattern, std::span<Vertex const> parent, Vertex end) {
    std::vector<Index> below(pattern.weight.size(), 0); // columns on the longest path strictly below
    Index height = 0;
    for (Vertex j = 0; j < end; ++j) {
        Index const with_self = below[j] + pattern.weight[j];
        height = std::max(height, with_self);
        if (parent[j] != no_vertex) below[parent[j]] = std::max(below[parent[j]], with_self);
    }
    return height;
}

} // namespace

ColumnCounts column_counts(LowerPattern const& pattern, std::span<Vertex const> parent, Vertex kept) {
    Vertex const end = pattern.num_vertices() - kept;
    ColumnCounts result;
    result.count = count_rows(pattern, parent);
    Index rows = 0;
    for (Vertex v = pattern.num_vertices(); v-- > end;) result.count[v] = rows += pattern.weight[v];
    result.tree_height = height_in_columns(pattern, parent, end);
    for (Vertex v = 0; v < end; ++v) {
        result.nnz += trapezoid_entries(result.count[v], pattern.weight[v]);
        result.flops += trapezoid_flops(result.count[v], pattern.weight[v]);
    }
    return result;
}

} // namespace espalier
