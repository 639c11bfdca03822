#include "symbolic/symbolic.hpp"

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
void expand_permutation(CompressedGraph const& compressed, Ordering const& postordered,
                        LowerPattern const& pattern, Supernodes const& supernodes,
                        std::vector<SupernodeId> const& order, BlockStructure& structure) {
    std::vector<Index> next_row(pattern.weight.size());
    Index row = 0;
    for (SupernodeId const s : order)
        for (Vertex const v : supernodes.members_of(s)) {
            next_row[v] = row;
            row += pattern.weight[v];
        }
    structure.perm.resize(structure.n);
    structure.inverse.resize(structure.n);
    for (Index old = 0; old < structure.n; ++old) {
        Index const vertex = postordered.perm[compressed.vertex_of_row[old]];
        structure.perm[old] = next_row[vertex]++;
        structure.inverse[structure.perm[old]] = old;
    }
}

} // namespace

BlockStructure symbolic_factorization(CompressedGraph const& compressed, Ordering const& ordering,
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

    auto supernodes = fundamental_supernodes(pattern, parent, counts.count, kept);
    if (options.amalgamate) supernodes = merged(pattern, supernodes, options);
    check(options.interrupt);
    auto sets = facing_sets(row_structure(pattern, supernodes), supernodes);
    if (options.reorder_rows) reorder_columns(supernodes, sets);
    check(options.interrupt);

    auto const runs = row_runs(pattern, supernodes, sets);
    auto const pieces = split_supernodes(supernodes, runs, options);
    auto const order = final_order(supernodes, runs, pieces);
    auto structure = block_symbolic(supernodes, runs, pieces, order, kept > 0);
    expand_permutation(compressed, postordered, pattern, supernodes, order, structure);
    structure.nnz_factor = counts.nnz;
    structure.flops = counts.flops;
    structure.tree_height = counts.tree_height;
    return structure;
}

} // namespace espalier
