#include "ordering/compress.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/inverse_permutation.hpp"
#include "core/mix_bits.hpp"
#include "ordering/locality.hpp"

namespace espalier {

namespace {

// Whether each vertex must come last; empty if none must.
using Marks = std::vector<char>;

bool marked(Marks const& marks, Index v) {
    return !marks.empty() && marks[v];
}

// hash(v) is the sum of hash_bits(w) over the closed neighborhood of v, so indistinguishable vertices have
// equal hashes. Marked vertices have no edges between them and are compared by their open neighborhoods.
std::vector<std::uint64_t> neighborhood_hashes(Graph const& graph, Marks const& last) {
    Index const n = graph.num_vertices;
    std::vector<std::uint64_t> mixed(n), hash(n);
    for (Index v = 0; v < n; ++v) mixed[v] = hash_bits(v);
    for (Index v = 0; v < n; ++v) {
        std::uint64_t sum = marked(last, v) ? hash_bits(n) : mixed[v];
        for (Index const w : graph.neighbors(v)) sum += mixed[w];
        hash[v] = sum;
    }
    return hash;
}

// Whether adj(v) + {v} = adj(w) + {w}: the sorted lists agree without w in the first and v in the second.
// This also holds if v and w are not neighbors and adj(v) = adj(w). Marked vertices need this case; others
// then differ in their hashes.
bool indistinguishable(Graph const& graph, Index v, Index w) {
    if (graph.degree(v) != graph.degree(w)) return false;
    auto const of_v = graph.neighbors(v), of_w = graph.neighbors(w);
    auto e = of_v.begin(), f = of_w.begin();
    while (true) {
        if (e != of_v.end() && *e == w) ++e;
        if (f != of_w.end() && *f == v) ++f;
        if (e == of_v.end() || f == of_w.end()) return e == of_v.end() && f == of_w.end();
        if (*e++ != *f++) return false;
    }
}

// first[v] is the first vertex that v is merged with, or v itself. Vertices are inserted in a hash table with
// linear probing. Different vertices with equal hashes are improbable; only a few are compared, so that no
// input causes quadratic time. It is not an error if a vertex is therefore not merged.
std::vector<Index> first_of_each(Graph const& graph, Marks const& last) {
    constexpr int max_collisions = 8;
    auto const hash = neighborhood_hashes(graph, last);
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
            if (marked(last, v) == marked(last, w) && indistinguishable(graph, v, w)) {
                first[v] = w;
                break;
            }
            ++collisions;
        }
        if (table[slot] < 0) table[slot] = v;
    }
    return first;
}

CompressedGraph merge_indistinguishable(Graph graph, Marks const& last) {
    auto const first = first_of_each(graph, last);
    Index const n = graph.num_vertices;
    CompressedGraph result;
    result.vertex_of_row.resize(first.size());
    Index groups = 0;
    for (Index v = 0; v < n; ++v)
        result.vertex_of_row[v] = first[v] == v ? groups++ : result.vertex_of_row[first[v]];
    if (10 * groups > 9 * n || n == 0) return uncompressed(std::move(graph));

    // All members of a group have the same neighbors, which include all members of a neighboring group. So
    // the list of a group consists of the first members in the list of its first member, and stays sorted.
    Graph& quotient = result.graph;
    quotient.num_vertices = groups;
    quotient.ptr.reserve(groups + 1);
    quotient.weight.assign(groups, 0);
    for (Index v = 0; v < n; ++v) {
        quotient.weight[result.vertex_of_row[v]] += graph.weight_of(v);
        if (first[v] != v) continue;
        for (Index const w : graph.neighbors(v))
            if (first[w] == w) quotient.adj.push_back(result.vertex_of_row[w]);
        quotient.ptr.push_back(std::ssize(quotient.adj));
    }
    return result;
}

struct MergedPairs {
    Graph graph;
    std::vector<Index> vertex_of; ///< The merged vertex of each original vertex.
};

MergedPairs merge_pairs(Graph const& graph, VertexPairs const& pairs) {
    Index const n = graph.num_vertices;
    std::vector<Index> partner(n, -1);
    for (auto const& [v, w] : pairs) {
        partner[v] = w;
        partner[w] = v;
    }
    // The first vertex of a pair determines the number of the merged vertex.
    auto const is_second = [&](Index v) { return partner[v] >= 0 && partner[v] < v; };
    std::vector<Index> merged_of(n);
    Index count = 0;
    for (Index v = 0; v < n; ++v) merged_of[v] = is_second(v) ? merged_of[partner[v]] : count++;

    Graph merged;
    merged.num_vertices = count;
    std::vector<Index> seen(count, -1);
    for (Index v = 0; v < n; ++v) {
        if (is_second(v)) continue;
        Index const self = merged_of[v];
        Offset const begin = std::ssize(merged.adj);
        seen[self] = self;
        Index weight = 0;
        for (Index const member : {v, partner[v]}) {
            if (member < 0) continue;
            weight += graph.weight_of(member);
            for (Index const w : graph.neighbors(member)) {
                Index const neighbor = merged_of[w];
                if (seen[neighbor] == self) continue;
                seen[neighbor] = self;
                merged.adj.push_back(neighbor);
            }
        }
        std::sort(merged.adj.begin() + begin, merged.adj.end());
        merged.weight.push_back(weight);
        merged.ptr.push_back(std::ssize(merged.adj));
    }
    return {std::move(merged), std::move(merged_of)};
}

Marks mark(Index n, std::span<Index const> last) {
    Marks marks(n, 0);
    for (Index const v : last) {
        if (v < 0 || v >= n)
            throw Error(Status::usage, fmt::format("unknown {} (counted from 0) of the Schur complement does "
                                                   "not exist: the matrix has {} unknowns",
                                                   v, n));
        if (marks[v]++)
            throw Error(Status::usage, fmt::format("unknown {} (counted from 0) is listed twice", v));
    }
    return marks;
}

Graph without_edges_between(Graph const& graph, Marks const& marks) {
    Graph result;
    result.num_vertices = graph.num_vertices;
    result.weight = graph.weight;
    result.ptr.reserve(graph.ptr.size());
    result.adj.reserve(graph.adj.size());
    for (Index v = 0; v < graph.num_vertices; ++v) {
        for (Index const w : graph.neighbors(v))
            if (!marks[v] || !marks[w]) result.adj.push_back(w);
        result.ptr.push_back(std::ssize(result.adj));
    }
    return result;
}

// Numbers the vertices of a scattered graph in the order of breadth-first searches.
CompressedGraph numbered_locally(CompressedGraph compressed) {
    if (!is_scattered(compressed.graph)) return compressed;
    auto const vertex_at = breadth_first_order(compressed.graph);
    auto const number = inverse_permutation(vertex_at);
    compressed.graph = renumbered(compressed.graph, vertex_at, number);
    for (Index& vertex : compressed.vertex_of_row) vertex = number[vertex];
    return compressed;
}

} // namespace

CompressedGraph uncompressed(Graph graph, std::span<Index const> last) {
    if (!last.empty()) graph = without_edges_between(graph, mark(graph.num_vertices, last));
    CompressedGraph result{std::move(graph), {}, {last.begin(), last.end()}};
    result.vertex_of_row.resize(result.graph.num_vertices);
    std::iota(result.vertex_of_row.begin(), result.vertex_of_row.end(), Index(0));
    std::sort(result.last.begin(), result.last.end());
    return result;
}

CompressedGraph compress(Graph graph, std::span<Index const> last, VertexPairs const& pairs) {
    if (last.empty() && pairs.empty()) return numbered_locally(merge_indistinguishable(std::move(graph), {}));
    Marks const marks = mark(graph.num_vertices, last);
    VertexPairs inside;
    for (auto const& pair : pairs)
        if (!marks[pair.first] && !marks[pair.second]) inside.push_back(pair);
    if (!last.empty()) graph = without_edges_between(graph, marks);
    auto merged = merge_pairs(graph, inside);
    graph = {};
    Marks merged_marks(merged.graph.num_vertices, 0);
    for (Index const v : last) merged_marks[merged.vertex_of[v]] = 1;

    CompressedGraph result = merge_indistinguishable(std::move(merged.graph), merged_marks);
    for (Index& vertex : merged.vertex_of) vertex = result.vertex_of_row[vertex];
    result.vertex_of_row = std::move(merged.vertex_of);
    for (Index const v : last) result.last.push_back(result.vertex_of_row[v]);
    std::sort(result.last.begin(), result.last.end());
    result.last.erase(std::unique(result.last.begin(), result.last.end()), result.last.end());
    return result.last.empty() ? numbered_locally(std::move(result)) : result;
}

} // namespace espalier
