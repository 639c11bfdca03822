#include "ordering/region.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "minimum_degree/balance_weights.hpp"

namespace espalier {

Offset Region::interior_edges() const {
    Offset sum = 0;
    for (Index v = 0; v < num_interior; ++v) sum += interior_end[v] - ptr[v];
    return sum;
}

Region whole_region(Graph const& graph) {
    // SCOTCH computes 2 * (sum of weights) in its own integer type.
    constexpr Index weight_limit = std::numeric_limits<std::int32_t>::max() / 4;
    Region region;
    region.num_interior = graph.num_vertices;
    region.ptr = graph.ptr;
    region.interior_end.assign(graph.ptr.begin() + 1, graph.ptr.end());
    region.adj = graph.adj;
    region.weight = balance_weights(graph, std::max(weight_limit, graph.num_vertices));
    region.origin.resize(graph.num_vertices);
    std::iota(region.origin.begin(), region.origin.end(), Index(0));
    return region;
}

namespace {

// Appends the lists of the halo vertices, the transpose of the edges from the interior to the halo.
void append_halo_lists(Region& region) {
    Index const inner = region.num_interior;
    Index const all = region.num_vertices();
    region.ptr.resize(all + 1, 0);
    for (Index v = 0; v < inner; ++v)
        for (Offset e = region.interior_end[v]; e < region.ptr[v + 1]; ++e) ++region.ptr[region.adj[e] + 1];
    for (Index h = inner; h < all; ++h) region.ptr[h + 1] += region.ptr[h];
    region.adj.resize(region.ptr[all]);
    std::vector<Offset> next(region.ptr.begin() + inner, region.ptr.end() - 1);
    for (Index v = 0; v < inner; ++v)
        for (Offset e = region.interior_end[v]; e < region.ptr[v + 1]; ++e)
            region.adj[next[region.adj[e] - inner]++] = v;
}

// The region in a parent with neighbors() and weight, where origin(v) is the number of v in the whole graph.
template <class Parent, class Vertices, class Origin> Region
induce_from(Parent const& parent, Vertices const& inside, std::vector<Index>& scratch, Origin const& origin) {
    auto& local = scratch;
    Region child;
    child.num_interior = std::ssize(inside);
    std::vector<Index> members(inside.begin(), inside.end()); // numbers in the parent; the halo is appended
    Offset edges = 0;
    for (Index v = 0; v < child.num_interior; ++v) {
        local[inside[v]] = v;
        edges += std::ssize(parent.neighbors(inside[v]));
    }
    child.ptr.reserve(inside.size() + 1);
    child.interior_end.reserve(inside.size());
    child.adj.reserve(edges);
    for (Index const v : inside) {
        for (Index const w : parent.neighbors(v))
            if (Index const k = local[w]; k >= 0 && k < child.num_interior) child.adj.push_back(k);
        child.interior_end.push_back(std::ssize(child.adj));
        for (Index const w : parent.neighbors(v)) {
            Index& k = local[w];
            if (k >= 0 && k < child.num_interior) continue;
            if (k < 0) { // a new halo vertex
                k = std::ssize(members);
                members.push_back(w);
            }
            child.adj.push_back(k);
        }
        child.ptr.push_back(std::ssize(child.adj));
    }
    child.origin.reserve(members.size());
    for (Index const v : members) {
        child.origin.push_back(origin(v));
        if (!parent.weight.empty()) child.weight.push_back(parent.weight[v]);
        local[v] = -1;
    }
    append_halo_lists(child);
    return child;
}

} // namespace

Region induce(Region const& parent, std::span<Index const> inside, std::vector<Index>& scratch) {
    return induce_from(parent, inside, scratch, [&](Index v) { return parent.origin[v]; });
}

Region region_of(Graph const& graph, std::span<std::int32_t const> inside, std::vector<Index>& scratch) {
    return induce_from(graph, inside, scratch, [](Index v) { return v; });
}

std::vector<Index> components(Region const& region, Index& num_components) {
    std::vector<Index> component(region.num_interior, -1);
    std::vector<Index> stack;
    num_components = 0;
    for (Index root = 0; root < region.num_interior; ++root) {
        if (component[root] >= 0) continue;
        component[root] = num_components;
        stack.push_back(root);
        while (!stack.empty()) {
            Index const v = stack.back();
            stack.pop_back();
            for (Index const w : region.interior_neighbors(v))
                if (component[w] < 0) {
                    component[w] = num_components;
                    stack.push_back(w);
                }
        }
        ++num_components;
    }
    return component;
}

} // namespace espalier
