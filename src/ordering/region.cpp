#include "ordering/region.hpp"

#include <limits>

#include "core/error.hpp"
#include "ordering/methods.hpp"

namespace espalier {

using Num = Region::Num;

Num Region::interior_edges() const {
    Num sum = 0;
    for (Num v = 0; v < num_interior; ++v) sum += interior_end[v] - ptr[v];
    return sum;
}

Region whole_region(Graph const& graph) {
    // SCOTCH forms 2 * (sum of weights) in its own type.
    constexpr Index weight_limit = std::numeric_limits<Num>::max() / 4;
    auto const n = checked_cast<Num>(graph.num_vertices, "number of vertices to order with SCOTCH");
    checked_cast<Num>(graph.ptr.back(), "number of adjacency entries to order with SCOTCH");
    if (graph.num_vertices > weight_limit)
        throw Error(Status::unsupported, "SCOTCH orders at most " + std::to_string(weight_limit) +
                                             " vertices with its integers, this graph has " + std::to_string(n));
    Region region;
    region.num_interior = n;
    region.ptr.assign(graph.ptr.begin(), graph.ptr.end());
    region.interior_end.assign(graph.ptr.begin() + 1, graph.ptr.end());
    region.adj.assign(graph.adj.begin(), graph.adj.end());
    auto const weights = balance_weights(graph, weight_limit);
    region.weight.assign(weights.begin(), weights.end());
    region.origin.resize(static_cast<std::size_t>(n));
    for (Num v = 0; v < n; ++v) region.origin[v] = v;
    return region;
}

namespace {

// The halo's lists are the transpose of the interior's edges into it.
void append_halo_lists(Region& region) {
    Num const inner = region.num_interior;
    Num const all = region.num_vertices();
    region.ptr.resize(static_cast<std::size_t>(all) + 1, 0);
    for (Num v = 0; v < inner; ++v)
        for (Num e = region.interior_end[v]; e < region.ptr[v + 1]; ++e) ++region.ptr[region.adj[e] + 1];
    for (Num h = inner; h < all; ++h) region.ptr[h + 1] += region.ptr[h];
    region.adj.resize(static_cast<std::size_t>(region.ptr[all]));
    std::vector<Num> next(region.ptr.begin() + inner, region.ptr.end() - 1);
    for (Num v = 0; v < inner; ++v)
        for (Num e = region.interior_end[v]; e < region.ptr[v + 1]; ++e) region.adj[next[region.adj[e] - inner]++] = v;
}

} // namespace

Region induce(Region const& parent, std::span<Num const> inside) {
    Region child;
    child.num_interior = static_cast<Num>(inside.size());
    std::vector<Num> local(static_cast<std::size_t>(parent.num_vertices()), -1);
    for (Num v = 0; v < child.num_interior; ++v) local[inside[v]] = v;

    std::size_t edges = 0;
    for (Num v : inside) edges += static_cast<std::size_t>(parent.ptr[v + 1] - parent.ptr[v]);
    child.ptr.reserve(inside.size() + 1);
    child.interior_end.reserve(inside.size());
    child.adj.reserve(edges);
    for (Num v : inside) child.origin.push_back(parent.origin[v]);

    for (Num v : inside) {
        auto const first = parent.adj.begin() + parent.ptr[v];
        auto const last = parent.adj.begin() + parent.ptr[v + 1];
        for (auto w = first; w != last; ++w)
            if (Num const k = local[*w]; k >= 0 && k < child.num_interior) child.adj.push_back(k);
        child.interior_end.push_back(static_cast<Num>(child.adj.size()));
        for (auto w = first; w != last; ++w) {
            Num& k = local[*w];
            if (k >= 0 && k < child.num_interior) continue;
            if (k < 0) { // first sight of this halo vertex
                k = child.num_vertices();
                child.origin.push_back(parent.origin[*w]);
            }
            child.adj.push_back(k);
        }
        child.ptr.push_back(static_cast<Num>(child.adj.size()));
    }
    if (!parent.weight.empty()) {
        child.weight.resize(child.origin.size());
        for (Num v = 0; v < parent.num_vertices(); ++v)
            if (local[v] >= 0) child.weight[local[v]] = parent.weight[v];
    }
    append_halo_lists(child);
    return child;
}

std::vector<Num> components(Region const& region, Num& num_components) {
    std::vector<Num> component(static_cast<std::size_t>(region.num_interior), -1);
    std::vector<Num> stack;
    num_components = 0;
    for (Num root = 0; root < region.num_interior; ++root) {
        if (component[root] >= 0) continue;
        component[root] = num_components;
        stack.push_back(root);
        while (!stack.empty()) {
            Num const v = stack.back();
            stack.pop_back();
            for (Num e = region.ptr[v]; e < region.interior_end[v]; ++e)
                if (Num const w = region.adj[e]; component[w] < 0) {
                    component[w] = num_components;
                    stack.push_back(w);
                }
        }
        ++num_components;
    }
    return component;
}

} // namespace espalier
