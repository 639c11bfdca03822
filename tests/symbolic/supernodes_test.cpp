#include "symbolic/supernodes.hpp"

#include <gtest/gtest.h>

#include "symbolic/amalgamation.hpp"
#include "symbolic/column_counts.hpp"
#include "symbolic/etree.hpp"
#include "symbolic/graphs.hpp"
#include "symbolic/reorder.hpp"
#include "symbolic/row_runs.hpp"
#include "symbolic/split.hpp"

namespace espalier {
namespace {

using namespace testing;

struct Prepared {
    LowerPattern pattern;
    ColumnCounts counts;
    Supernodes fundamental;
};

Prepared prepare(Graph const& graph, Ordering const& ordering) {
    Prepared p;
    auto const any_order_parent = elimination_tree(graph, ordering);
    auto const post = postorder(any_order_parent);
    auto const parent = relabel_forest(any_order_parent, post);
    p.pattern = lower_pattern(graph, compose(ordering, post));
    p.counts = column_counts(p.pattern, parent);
    p.fundamental = fundamental_supernodes(p.pattern, parent, p.counts.count);
    return p;
}

Prepared prepare_grid(Index n) { return prepare(grid(n, n, n), nested_dissection(n, n, n)); }

double stored_entries(Supernodes const& s) {
    double entries = 0;
    for (SupernodeId k = 0; k < s.size(); ++k)
        entries += static_cast<double>(trapezoid_entries(s.width[k] + s.below[k], s.width[k]));
    return entries;
}

double work(Supernodes const& s) {
    double flops = 0;
    for (SupernodeId k = 0; k < s.size(); ++k) flops += trapezoid_flops(s.width[k] + s.below[k], s.width[k]);
    return flops;
}

void expect_partition(Supernodes const& s, LowerPattern const& pattern) {
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

TEST(FundamentalSupernodes, OfATriangleAndATail) {
    // 0 - 1 - 2, and 2 3 4 a triangle: 0 and 1 are chain links of their own, 2 3 4 one supernode.
    auto const p = prepare(graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 4}}), natural_order(5));
    EXPECT_EQ(p.fundamental.member_ptr, (std::vector<Vertex>{0, 1, 2, 5}));
    EXPECT_EQ(p.fundamental.parent, (std::vector<SupernodeId>{1, 2, no_supernode}));
    EXPECT_EQ(p.fundamental.width, (std::vector<Index>{1, 1, 3}));
    EXPECT_EQ(p.fundamental.below, (std::vector<Index>{1, 1, 0}));
}

TEST(Amalgamation, WithoutFillMergesOnlyWhatStoresNoZeros) {
    std::mt19937_64 random(10);
    for (int seed = 0; seed < 100; ++seed) {
        auto const graph = random_graph(50, 0.5 + 0.02 * seed, random);
        auto const p = prepare(graph, random_order(50, random));
        SymbolicOptions options;
        options.amalgamation_fill = 0;
        auto const merged = amalgamate(p.fundamental, options);
        expect_partition(merged, p.pattern);
        EXPECT_EQ(stored_entries(merged), static_cast<double>(p.counts.nnz));
        EXPECT_LE(merged.size(), p.fundamental.size());
    }
}

TEST(Amalgamation, StaysWithinItsBoundsOnAGridAndMakesLeavesWide) {
    auto const p = prepare_grid(20);
    SymbolicOptions options;
    auto const merged = amalgamate(p.fundamental, options);
    expect_partition(merged, p.pattern);
    EXPECT_LT(stored_entries(merged), 1.35 * static_cast<double>(p.counts.nnz)); // descriptions count too
    EXPECT_LT(work(merged), 1.15 * p.counts.flops);
    std::vector<char> has_child(merged.parent.size(), 0);
    for (SupernodeId parent : merged.parent)
        if (parent != no_supernode) has_child[parent] = 1;
    double leaves = 0;
    double leaf_columns = 0;
    for (SupernodeId s = 0; s < merged.size(); ++s)
        if (!has_child[s]) {
            leaves += 1;
            leaf_columns += static_cast<double>(merged.width[s]);
        }
    EXPECT_GT(leaf_columns / leaves, 8);
}

TEST(Amalgamation, LessFillAllowedMeansLessFill) {
    auto const p = prepare_grid(12);
    SymbolicOptions options;
    double previous = stored_entries(amalgamate(p.fundamental, options));
    for (double fill : {0.1, 0.05, 0.02, 0.01, 0.0}) {
        options.amalgamation_fill = fill;
        double const entries = stored_entries(amalgamate(p.fundamental, options));
        EXPECT_LE(entries, previous);
        previous = entries;
    }
    EXPECT_EQ(previous, static_cast<double>(p.counts.nnz));
}

TEST(Bundling, GathersTheLeavesOfAnArrowMatrix) {
    auto const p = prepare(star(1001, 1000), natural_order(1001));
    auto const bundled = bundle_siblings(p.pattern, p.fundamental, {});
    expect_partition(bundled, p.pattern);
    EXPECT_LE(bundled.size(), 1000 / bundle_width + 2);
    for (SupernodeId s = 0; s < bundled.size(); ++s) {
        EXPECT_LE(bundled.width[s], bundle_width);
        EXPECT_EQ(bundled.below[s], bundled.parent[s] == no_supernode ? 0 : 1);
    }
}

TEST(Bundling, LeavesSiblingsAloneThatShareTooFewRows) {
    // Two vertices with 60 neighbours each in a clique of 120, with none in common but the first.
    std::set<std::pair<Index, Index>> edges{{0, 2}, {1, 2}};
    for (Index k = 0; k < 60; ++k) {
        edges.emplace(0, 2 + k);
        edges.emplace(1, 62 + k);
    }
    for (Index u = 2; u < 122; ++u)
        for (Index v = 2; v < u; ++v) edges.emplace(u, v);
    auto const p = prepare(graph_of(122, edges), natural_order(122));
    auto const bundled = bundle_siblings(p.pattern, p.fundamental, {});
    EXPECT_EQ(bundled.size(), p.fundamental.size());
}

TEST(Bundling, MergesNothingWhereNoZerosAreAllowed) {
    auto const p = prepare(star(50, 49), natural_order(50));
    SymbolicOptions options;
    options.amalgamation_fill = 0;
    EXPECT_EQ(bundle_siblings(p.pattern, p.fundamental, options).size(), p.fundamental.size());
}

TEST(RowStructure, HasAsManyRowsAsTheColumnCountsSay) {
    std::mt19937_64 random(11);
    for (int seed = 0; seed < 50; ++seed) {
        auto const compressed = with_random_weights(random_graph(40, 0.5 + 0.03 * seed, random), 3, random);
        auto const p = prepare(compressed.graph, random_order(40, random));
        auto const merged = amalgamate(p.fundamental, {});
        for (auto const& s : {p.fundamental, merged, bundle_siblings(p.pattern, merged, {}),
                              bundle_siblings(p.pattern, p.fundamental, {})}) {
            auto const structure = row_structure(p.pattern, s);
            for (SupernodeId k = 0; k < s.size(); ++k) {
                Index rows = 0;
                for (Vertex v : structure.rows_of(k)) rows += p.pattern.weight[v];
                ASSERT_EQ(rows, s.below[k]) << "seed " << seed << ", supernode " << k;
            }
        }
    }
}

TEST(RowStructure, FacingSetsHoldEachRowOnce) {
    auto const p = prepare_grid(6);
    auto const structure = row_structure(p.pattern, p.fundamental);
    auto const sets = facing_sets(structure, p.fundamental);
    std::set<std::pair<SupernodeId, Vertex>> expected;
    for (SupernodeId s = 0; s < p.fundamental.size(); ++s)
        for (Vertex v : structure.rows_of(s)) expected.emplace(s, v);
    std::set<std::pair<SupernodeId, Vertex>> found;
    for (SupernodeId j = 0; j < p.fundamental.size(); ++j)
        for (FacingSet const& set : sets.facing(j))
            for (Vertex k : sets.of(set))
                EXPECT_TRUE(found.emplace(set.owner, p.fundamental.members_of(j)[k]).second);
    EXPECT_EQ(found, expected);
}

TEST(RowRuns, AreMaximalIntervalsOfTheRows) {
    // A hub supernode of 200 columns reached by leaves with sparse and dense sets, so that every way of
    // finding runs is used.
    Index const hub = 200;
    std::mt19937_64 random(12);
    Supernodes s;
    LowerPattern pattern;
    RowStructure structure;
    std::vector<std::set<Vertex>> reached;
    for (int leaf = 0; leaf < 60; ++leaf) {
        std::set<Vertex> set{static_cast<Vertex>(random() % hub)};
        for (int k = 0; k < leaf * leaf / 12; ++k) set.insert(static_cast<Vertex>(random() % hub));
        reached.push_back(set);
        s.members.push_back(static_cast<Vertex>(leaf));
        s.member_ptr.push_back(static_cast<Vertex>(leaf + 1));
        s.parent.push_back(60);
        for (Vertex v : set) structure.rows.push_back(60 + v);
        structure.ptr.push_back(static_cast<Offset>(structure.rows.size()));
    }
    for (Vertex v = 0; v < hub; ++v) s.members.push_back(60 + v);
    s.member_ptr.push_back(static_cast<Vertex>(60 + hub));
    s.parent.push_back(no_supernode);
    structure.ptr.push_back(structure.ptr.back());
    pattern.weight.assign(s.members.size(), 1);

    auto const runs = row_runs(pattern, s, facing_sets(structure, s));
    for (SupernodeId leaf = 0; leaf < 60; ++leaf) {
        std::set<Vertex> covered;
        Index previous_end = -1;
        for (RowRun const& run : runs.of(leaf)) {
            EXPECT_GT(run.begin, previous_end) << "runs that touch or go back";
            EXPECT_EQ(run.facing, 60);
            for (Index row = run.begin; row < run.end; ++row) covered.insert(static_cast<Vertex>(row));
            previous_end = run.end;
        }
        EXPECT_EQ(covered, reached[leaf]);
    }
}

std::vector<Index> widths_of(Pieces const& pieces, SupernodeId s) {
    std::vector<Index> widths;
    Index previous = 0;
    for (Index end : pieces.of(s)) {
        widths.push_back(end - previous);
        previous = end;
    }
    return widths;
}

TEST(Split, KeepsWidthsWithinBoundsForEveryWidth) {
    for (auto const& [least, most] : {std::pair<Index, Index>{1, 1}, {4, 8}, {4, 7}, {16, 37}, {7, 8}, {5, 5}}) {
        SymbolicOptions options;
        options.min_width = least;
        options.max_width = most;
        for (Index width = 1; width < 120; ++width) {
            Supernodes one;
            one.parent = {no_supernode};
            one.width = {width};
            auto const widths = widths_of(split_supernodes(one, RowRuns{{0, 0}, {}}, options), 0);
            EXPECT_EQ(std::accumulate(widths.begin(), widths.end(), Index{0}), width);
            for (Index w : widths) {
                EXPECT_GE(w, std::min(least, width));
                if (most >= 2 * least - 1) {
                    EXPECT_LE(w, most);
                }
            }
        }
    }
}

TEST(Split, CutsWhereNoFacingRunIsCut) {
    Supernodes s;
    s.parent = {1, no_supernode};
    s.width = {1, 64};
    RowRuns const runs{{0, 3, 3}, {{1, 0, 30}, {1, 30, 35}, {1, 36, 64}}};
    SymbolicOptions options;
    options.min_width = 16;
    options.max_width = 40;
    auto const pieces = split_supernodes(s, runs, options);
    EXPECT_EQ(widths_of(pieces, 1), (std::vector<Index>{30, 34}));
    EXPECT_EQ(pieces.piece_of(1, 29), 0);
    EXPECT_EQ(pieces.piece_of(1, 30), 1);
}

TEST(Split, PrefersMultiplesOf16WhereNothingElseDecides) {
    Supernodes s;
    s.parent = {no_supernode};
    s.width = {300};
    SymbolicOptions options;
    EXPECT_EQ(widths_of(split_supernodes(s, RowRuns{{0, 0}, {}}, options), 0), (std::vector<Index>{144, 156}));
}

TEST(Reorder, PutsColumnsThatTheSameDescendantsReachTogether) {
    // Leaves 0, 1, 2 reach every other column of the clique 3..8, or overlapping pairs.
    std::set<std::pair<Index, Index>> edges{{0, 3}, {0, 5}, {0, 7}, {1, 4}, {1, 6}, {1, 8}, {2, 7}, {2, 4}};
    for (Index u = 3; u < 9; ++u)
        for (Index v = 3; v < u; ++v) edges.emplace(u, v);
    auto const p = prepare(graph_of(9, edges), natural_order(9));
    SymbolicOptions options;
    options.amalgamation_fill = 0;
    auto supernodes = amalgamate(p.fundamental, options);
    ASSERT_EQ(supernodes.size(), 4);
    auto sets = facing_sets(row_structure(p.pattern, supernodes), supernodes);
    EXPECT_EQ(row_runs(p.pattern, supernodes, sets).runs.size(), 8u);
    reorder_columns(supernodes, sets);
    EXPECT_EQ(row_runs(p.pattern, supernodes, sets).runs.size(), 3u);
    expect_partition(supernodes, p.pattern);
}

TEST(Reorder, LessensTheRunsOfAShuffledGridSeveralTimes) {
    // Separators numbered at random, as graph partitioners do.
    std::mt19937_64 random(13);
    Index const n = 14;
    auto const ordering = nested_dissection(n, n, n);
    auto const p = prepare(grid(n, n, n), ordering);
    auto supernodes = amalgamate(p.fundamental, {});
    for (SupernodeId s = 0; s < supernodes.size(); ++s) {
        auto const members = supernodes.members_of(s);
        for (std::size_t k = members.size(); k > 1; --k) std::swap(members[k - 1], members[random() % k]);
    }
    auto sets = facing_sets(row_structure(p.pattern, supernodes), supernodes);
    auto const before = row_runs(p.pattern, supernodes, sets).runs.size();
    reorder_columns(supernodes, sets);
    auto const after = row_runs(p.pattern, supernodes, sets).runs.size();
    expect_partition(supernodes, p.pattern);
    EXPECT_LT(3 * after, before);
}

} // namespace
} // namespace espalier
