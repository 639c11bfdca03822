#include "symbolic/symbolic.hpp"

#include <numeric>

#include <fmt/format.h>

#include "core/error.hpp"
#include "ordering/permutation.hpp"
#include "symbolic/amalgamation.hpp"
#include "symbolic/block_symbolic.hpp"
#include "symbolic/column_counts.hpp"
#include "symbolic/etree.hpp"
#include "symbolic/structure.hpp"

namespace espalier {

namespace {

void check(SymbolicOptions const& options) {
    auto const require = [](bool holds, char const* what) {
        if (!holds) throw Error(Status::usage, what);
    };
    require(options.min_width >= 1, "the minimum block width must be at least 1");
    require(options.max_width >= options.min_width,
            "the maximum block width must not be below the minimum block width");
    require(options.amalgamation_fill >= 0 && options.max_extra_flops >= 0,
            "the limits of amalgamation (fill and extra flops) must not be negative");
}

void check(CompressedGraph const& compressed, Ordering const& ordering, Index kept) {
    Index const n = compressed.graph.num_vertices;
    if (kept < 0 || kept > n)
        throw Error(Status::internal, fmt::format("cannot keep {} of {} vertices", kept, n));
    checked_cast<Vertex>(n, "number of vertices of the compressed graph");
    if (std::ssize(ordering.perm) != n)
        throw Error(Status::internal,
                    fmt::format("the ordering has {} vertices, the graph has {}", ordering.perm.size(), n));
    if (invert_permutation(ordering.perm, "the ordering") != ordering.inverse)
        throw Error(Status::internal, "perm and inverse of the ordering disagree");
    std::vector<Index> rows(n, 0);
    for (Index const v : compressed.vertex_of_row) {
        if (v < 0 || v >= n)
            throw Error(Status::internal, fmt::format("a row belongs to vertex {} of {}", v, n));
        ++rows[v];
    }
    for (Index v = 0; v < n; ++v)
        if (rows[v] != compressed.graph.weight_of(v) || rows[v] == 0)
            throw Error(Status::internal, fmt::format("vertex {} has weight {} but {} rows", v,
                                                      compressed.graph.weight_of(v), rows[v]));
}

Supernodes merged(LowerPattern const& pattern, Supernodes const& fundamental,
                  SymbolicOptions const& options) {
    auto const amalgamated = amalgamate(fundamental, options);
    if (!amalgamated.prices) return amalgamated.supernodes;
    return bundle_siblings(pattern, amalgamated.supernodes, *amalgamated.prices, options.kept_vertices > 0);
}

// The rows of a vertex are consecutive and in their old order; vertices have the order of the supernodes.
std::vector<Index> rows_by_supernode(CompressedGraph const& compressed, Ordering const& postordered,
                                     LowerPattern const& pattern, Supernodes const& supernodes) {
    std::vector<Index> next_row(pattern.weight.size());
    Index row = 0;
    for (Vertex const v : supernodes.members) {
        next_row[v] = row;
        row += pattern.weight[v];
    }
    std::vector<Index> rows(row);
    for (Index old = 0; old < row; ++old)
        rows[next_row[postordered.perm[compressed.vertex_of_row[old]]]++] = old;
    return rows;
}

void set_permutation(SupernodalStructure const& whole, std::vector<SupernodeId> const& order,
                     BlockStructure& structure) {
    std::vector<Index> first(whole.supernodes.size() + 1, 0);
    std::partial_sum(whole.supernodes.width.begin(), whole.supernodes.width.end(), first.begin() + 1);
    structure.perm.resize(structure.n);
    structure.inverse.reserve(structure.n);
    for (SupernodeId const s : order)
        for (Index i = first[s]; i < first[s + 1]; ++i) {
            structure.perm[whole.rows[i]] = std::ssize(structure.inverse);
            structure.inverse.push_back(whole.rows[i]);
        }
}

} // namespace

SupernodalStructure find_supernodes(CompressedGraph const& compressed, Ordering const& ordering,
                                    SymbolicOptions const& options) {
    check(options);
    check(compressed, ordering, options.kept_vertices);
    Graph const& graph = compressed.graph;
    auto const kept = static_cast<Vertex>(options.kept_vertices);

    auto any_order_parent = elimination_tree(graph, ordering);
    chain_last(any_order_parent, kept);
    auto const post = postorder(any_order_parent);
    auto const postordered = compose(ordering, post);
    auto const parent = relabel_forest(any_order_parent, post);
    check(options.interrupt);
    auto const pattern = lower_pattern(graph, postordered);
    auto const counts = column_counts(pattern, parent, kept);
    check(options.interrupt);

    SupernodalStructure whole;
    auto& supernodes = whole.supernodes;
    supernodes = fundamental_supernodes(pattern, parent, counts.count, kept);
    if (options.amalgamate) supernodes = merged(pattern, supernodes, options);
    check(options.interrupt);
    auto sets = facing_sets(row_structure(pattern, supernodes), supernodes);
    if (options.reorder_rows) reorder_columns(supernodes, sets);
    check(options.interrupt);

    whole.runs = row_runs(pattern, supernodes, sets);
    whole.rows = rows_by_supernode(compressed, postordered, pattern, supernodes);
    whole.keeps_last = kept > 0;
    whole.nnz_factor = counts.nnz;
    whole.flops = counts.flops;
    whole.tree_height = counts.tree_height;
    return whole;
}

std::uint64_t bytes_of(SupernodalStructure const& whole) {
    auto const bytes = []<class T>(std::vector<T> const& list) { return list.size() * sizeof(T); };
    Supernodes const& supernodes = whole.supernodes;
    return bytes(supernodes.member_ptr) + bytes(supernodes.members) + bytes(supernodes.parent) +
           bytes(supernodes.width) + bytes(supernodes.below) + bytes(whole.runs.ptr) +
           bytes(whole.runs.runs) + bytes(whole.rows);
}

BlockStructure split_structure(SupernodalStructure const& whole, std::vector<PieceWidths> const& widths) {
    auto const pieces = split_supernodes(whole.supernodes, whole.runs, widths);
    auto const order = final_order(whole.supernodes, whole.runs, pieces);
    auto structure = block_symbolic(whole.supernodes, whole.runs, pieces, order, whole.keeps_last);
    set_permutation(whole, order, structure);
    structure.nnz_factor = whole.nnz_factor;
    structure.flops = whole.flops;
    structure.tree_height = whole.tree_height;
    return structure;
}

BlockStructure symbolic_factorization(CompressedGraph const& compressed, Ordering const& ordering,
                                      SymbolicOptions const& options) {
    SupernodalStructure const whole = find_supernodes(compressed, ordering, options);
    return split_structure(whole, uniform_widths(whole.supernodes, {options.min_width, options.max_width}));
}

} // namespace espalier
