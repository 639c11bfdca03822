// The first steps of symbolic factorization, as the tests of later steps need them.
#pragma once

#include <gtest/gtest.h>

#include "symbolic/column_counts.hpp"
#include "symbolic/etree.hpp"
#include "symbolic/graphs.hpp"
#include "symbolic/supernodes.hpp"

namespace espalier::testing {

struct Prepared {
    LowerPattern pattern;
    ColumnCounts counts;
    Supernodes fundamental;
};

inline Prepared prepare(Graph const& graph, Ordering const& ordering) {
    Prepared p;
    auto const any_order_parent = elimination_tree(graph, ordering);
    auto const post = postorder(any_order_parent);
    auto const parent = relabel_forest(any_order_parent, post);
    p.pattern = lower_pattern(graph, compose(ordering, post));
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

} // namespace espalier::testing
