#include "ordering/compress.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/mix_bits.hpp"

namespace espalier {

namespace {

// hash(v) = sum over the closed neighbourhood of v of hash_bits(w): equal for indistinguishable vertices.
std::vector<std::uint64_t> neighbourhood_hashes(Graph const& graph) {
    auto const n = static_cast<std::size_t>(graph.num_vertices);
    std::vector<std::uint64_t> mixed(n), hash(n);
    for (std::size_t v = 0; v < n; ++v) mixed[v] = hash_bits(v);
    for (std::size_t v = 0; v < n; ++v) {
        std::uint64_t sum = mixed[v];
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
            sum += mixed[static_cast<std::size_t>(graph.adj[e])];
        hash[v] = sum;
    }
    return hash;
}

Offset degree(Graph const& graph, Index v) {
    return graph.ptr[v + 1] - graph.ptr[v];
}

// adj(v) + {v} = adj(w) + {w}: the sorted lists agree once w is skipped in the first and v in the second.
bool indistinguishable(Graph const& graph, Index v, Index w) {
    if (degree(graph, v) != degree(graph, w)) return false;
    Offset e = graph.ptr[v], f = graph.ptr[w];
    Offset const e_end = graph.ptr[v + 1], f_end = graph.ptr[w + 1];
    while (true) {
        if (e < e_end && graph.adj[e] == w) ++e;
        if (f < f_end && graph.adj[f] == v) ++f;
        if (e == e_end || f == f_end) return e == e_end && f == f_end;
        if (graph.adj[e++] != graph.adj[f++]) return false;
    }
}

// first[v]: the first vertex that v is merged with, itself when there is none. Vertices are entered in a hash
// table with linear probing. A chain of different vertices with one hash does not happen by chance; it is
// followed a few steps only, so that no input makes this quadratic (a vertex not merged is no error).
std::vector<Index> first_of_each(Graph const& graph) {
    constexpr int max_collisions = 8;
    auto const hash = neighbourhood_hashes(graph);
    std::size_t const size = std::bit_ceil(2 * hash.size() + 1);
    std::vector<Index> table(size, -1);
    std::vector<Index> first(hash.size());
    for (Index v = 0; v < graph.num_vertices; ++v) {
        first[v] = v;
        int collisions = 0;
        std::size_t slot = hash_bits(hash[v]) & (size - 1);
        for (; table[slot] >= 0 && collisions < max_collisions; slot = (slot + 1) & (size - 1)) {
            Index const w = table[slot];
            if (hash[w] != hash[v]) continue;
            if (indistinguishable(graph, v, w)) {
                first[v] = w;
                break;
            }
            ++collisions;
        }
        if (table[slot] < 0) table[slot] = v;
    }
    return first;
}

} // namespace

CompressedGraph uncompressed(Graph graph) {
    CompressedGraph result{std::move(graph), {}};
    result.vertex_of_row.resize(static_cast<std::size_t>(result.graph.num_vertices));
    std::iota(result.vertex_of_row.begin(), result.vertex_of_row.end(), Index(0));
    return result;
}

CompressedGraph compress(Graph const& graph) {
    auto const first = first_of_each(graph);
    Index const n = graph.num_vertices;
    CompressedGraph result;
    result.vertex_of_row.resize(first.size());
    Index groups = 0;
    for (Index v = 0; v < n; ++v)
        result.vertex_of_row[v] = first[v] == v ? groups++ : result.vertex_of_row[first[v]];
    if (10 * groups > 9 * n || n == 0) return uncompressed(graph);

    // A neighbour of one member is a neighbour of all, and so are all members of its group: the list of a
    // group is its first member's, first members only, and stays sorted.
    Graph& quotient = result.graph;
    quotient.num_vertices = groups;
    quotient.ptr.reserve(static_cast<std::size_t>(groups) + 1);
    quotient.weight.assign(static_cast<std::size_t>(groups), 0);
    for (Index v = 0; v < n; ++v) {
        quotient.weight[result.vertex_of_row[v]] += graph.weight_of(v);
        if (first[v] != v) continue;
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
            if (Index const w = graph.adj[e]; first[w] == w) quotient.adj.push_back(result.vertex_of_row[w]);
        quotient.ptr.push_back(static_cast<Offset>(quotient.adj.size()));
    }
    return result;
}

CompressedGraph compress_with_pairs(Graph const& graph, std::vector<std::pair<Index, Index>> const& pairs) {
    Index const n = graph.num_vertices;
    std::vector<Index> partner(static_cast<std::size_t>(n), -1);
    for (auto const& [v, w] : pairs) {
        partner[v] = w;
        partner[w] = v;
    }
    // The first of a pair names the merged vertex.
    std::vector<Index> merged_of(static_cast<std::size_t>(n));
    Index count = 0;
    for (Index v = 0; v < n; ++v) merged_of[v] = partner[v] >= 0 && partner[v] < v ? merged_of[partner[v]] : count++;

    Graph merged;
    merged.num_vertices = count;
    std::vector<Index> seen(static_cast<std::size_t>(count), -1);
    for (Index v = 0; v < n; ++v) {
        if (partner[v] >= 0 && partner[v] < v) continue;
        Index const self = merged_of[v];
        auto const begin = static_cast<std::ptrdiff_t>(merged.adj.size());
        seen[self] = self;
        Index weight = 0;
        for (Index const member : {v, partner[v]}) {
            if (member < 0) continue;
            weight += graph.weight_of(member);
            for (Offset e = graph.ptr[member]; e < graph.ptr[member + 1]; ++e) {
                Index const neighbour = merged_of[graph.adj[e]];
                if (seen[neighbour] == self) continue;
                seen[neighbour] = self;
                merged.adj.push_back(neighbour);
            }
        }
        std::sort(merged.adj.begin() + begin, merged.adj.end());
        merged.weight.push_back(weight);
        merged.ptr.push_back(static_cast<Offset>(merged.adj.size()));
    }
    CompressedGraph result = compress(merged);
    for (Index& vertex : merged_of) vertex = result.vertex_of_row[vertex];
    result.vertex_of_row = std::move(merged_of);
    return result;
}

} // namespace espalier
