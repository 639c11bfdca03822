// The first steps of the symbolic factorization and further helpers for the tests of later steps.
#pragma once

#include <gtest/gtest.h>

#include "symbolic/column_counts.hpp"
#include "symbolic/etree.hpp"
#include "symbolic/graphs.hpp"
#include "symbolic/supernodes.hpp"
#include "symbolic/symbolic.hpp"
#include "symbolic/validate.hpp"

namespace espalier::testing {

struct Prepared {
    Ordering ordering; // postordered
    LowerPattern pattern;
    ColumnCounts counts;
    Supernodes fundamental;
};

inline Prepared prepare(Graph const& graph, Ordering const& ordering) {
    Prepared p;
    auto const any_order_parent = elimination_tree(graph, ordering);
    auto const post = postorder(any_order_parent);
    auto const parent = relabel_forest(any_order_parent, post);
    p.ordering = compose(ordering, post);
    p.pattern = lower_pattern(graph, p.ordering);
    p.counts = column_counts(p.pattern, parent);
    p.fundamental = fundamental_supernodes(p.pattern, parent, p.counts.count);
    return p;
}

inline Prepared prepare_grid(Index n) {
    return prepare(grid(n, n, n), nested_dissection(n, n, n));
}

inline void expect_partition(Supernodes const& s, LowerPattern const& pattern) {
    std::vector<char> seen(pattern.weight.size(), 0);
    ASSERT_EQ(s.members.size(), pattern.weight.size());
    for (SupernodeId k = 0; k < s.size(); ++k) {
        Index width = 0;
        for (Vertex v : s.members_of(k)) {
            ASSERT_FALSE(seen[v]++) << "vertex " << v << " is in two supernodes";
            width += pattern.weight[v];
        }
        EXPECT_EQ(s.width[k], width);
        EXPECT_TRUE(s.parent[k] == no_supernode || s.parent[k] > k);
    }
    std::vector<Vertex> const post = postorder(s.parent);
    EXPECT_TRUE(std::is_sorted(post.begin(), post.end()));
}

/// Options without merging and splitting.
inline SymbolicOptions bare_options() {
    return {.amalgamate = false, .reorder_rows = false, .max_width = 1'000'000, .min_width = 1'000'000};
}

inline SymbolicOptions random_options(std::mt19937_64& random) {
    SymbolicOptions options;
    options.amalgamate = random() % 2;
    options.amalgamation_fill = static_cast<double>(random() % 4) * 0.3;
    options.max_extra_flops = static_cast<double>(random() % 3);
    options.reorder_rows = random() % 2;
    options.min_width = 1 + static_cast<Index>(random() % 5);
    options.max_width = options.min_width + static_cast<Index>(random() % 7);
    return options;
}

/// The valid structure of a graph whose vertices are eliminated in their order.
inline BlockStructure structure_of(Graph const& graph, SymbolicOptions const& options = {}) {
    auto structure = symbolic_factorization(uncompressed(graph), natural_order(graph.num_vertices), options);
    validate(structure);
    return structure;
}

/// Checks that every entry of the fill is in a blok.
inline void expect_covered(Fill const& fill, BlockStructure const& structure) {
    for (Index j = 0; j < structure.n; ++j) {
        auto const bloks = structure.bloks_of(structure.cblks[structure.cblk_of_col[j]]);
        for (Index i = j; i < structure.n; ++i) {
            auto const has_row = [&](Blok const& blok) { return blok.first_row <= i && i < blok.end_row; };
            ASSERT_TRUE(!fill[i][j] || std::ranges::any_of(bloks, has_row))
                << "entry (" << i << ", " << j << ") is in no blok";
        }
    }
}

} // namespace espalier::testing
