#include "ordering/region.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "ordering/methods.hpp"

namespace espalier {

Offset Region::interior_edges() const {
    Offset sum = 0;
    for (Index v = 0; v < num_interior; ++v) sum += interior_end[v] - ptr[v];
    return sum;
}

Region whole_region(Graph const& graph) {
    // SCOTCH forms 2 * (sum of weights) in its own type.
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

// The halo's lists are the transpose of the interior's edges into it.
void append_halo_lists(Region& region) {
    Index const inner = region.num_interior;
    Index const all = region.num_vertices();
    region.ptr.resize(static_cast<std::size_t>(all) + 1, 0);
    for (Index v = 0; v < inner; ++v)
        for (Offset e = region.interior_end[v]; e < region.ptr[v + 1]; ++e) ++region.ptr[region.adj[e] + 1];
    for (Index h = inner; h < all; ++h) region.ptr[h + 1] += region.ptr[h];
    region.adj.resize(region.ptr[all]);
    std::vector<Offset> next(region.ptr.begin() + inner, region.ptr.end() - 1);
    for (Index v = 0; v < inner; ++v)
        for (Offset e = region.interior_end[v]; e < region.ptr[v + 1]; ++e)
            region.adj[next[region.adj[e] - inner]++] = v;
}

} // namespace

Region induce(Region const& parent, std::span<Index const> inside, std::vector<Index>& scratch) {
    auto& local = scratch;
    Region child;
    child.num_interior = static_cast<Index>(inside.size());
    std::vector<Index> members(inside.begin(), inside.end()); // in the parent; the halo is appended
    std::size_t edges = 0;
    for (Index v = 0; v < child.num_interior; ++v) {
        local[inside[v]] = v;
        edges += static_cast<std::size_t>(parent.ptr[inside[v] + 1] - parent.ptr[inside[v]]);
    }
    child.ptr.reserve(inside.size() + 1);
    child.interior_end.reserve(inside.size());
    child.adj.reserve(edges);
    for (Index const v : inside) {
        auto const first = parent.adj.begin() + parent.ptr[v];
        auto const last = parent.adj.begin() + parent.ptr[v + 1];
        for (auto w = first; w != last; ++w)
            if (Index const k = local[*w]; k >= 0 && k < child.num_interior) child.adj.push_back(k);
        child.interior_end.push_back(static_cast<Offset>(child.adj.size()));
        for (auto w = first; w != last; ++w) {
            Index& k = local[*w];
            if (k >= 0 && k < child.num_interior) continue;
            if (k < 0) { // first sight of this halo vertex
                k = static_cast<Index>(members.size());
                members.push_back(*w);
            }
            child.adj.push_back(k);
        }
        child.ptr.push_back(static_cast<Offset>(child.adj.size()));
    }
    child.origin.reserve(members.size());
    for (Index const v : members) {
        child.origin.push_back(parent.origin[v]);
        if (!parent.weight.empty()) child.weight.push_back(parent.weight[v]);
        local[v] = -1;
    }
    append_halo_lists(child);
    return child;
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
            for (Offset e = region.ptr[v]; e < region.interior_end[v]; ++e)
                if (Index const w = region.adj[e]; component[w] < 0) {
                    component[w] = num_components;
                    stack.push_back(w);
                }
        }
        ++num_components;
    }
    return component;
}

} // namespace espalier
