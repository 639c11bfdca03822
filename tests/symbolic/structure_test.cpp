#include "symbolic/structure.hpp"

#include <gtest/gtest.h>

#include "symbolic/amalgamation.hpp"
#include "symbolic/prepared.hpp"
#include "symbolic/row_runs.hpp"

namespace espalier {
namespace {

using namespace testing;

TEST(RowStructure, MatchesTheColumnCounts) {
    std::mt19937_64 random(11);
    for (int seed = 0; seed < 50; ++seed) {
        auto const compressed = with_random_weights(random_graph(40, 0.5 + 0.03 * seed, random), 3, random);
        auto const p = prepare(compressed.graph, random_order(40, random));
        auto const merged = amalgamate(p.fundamental, {}).supernodes;
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

TEST(RowStructure, FacingSetsContainEachRowOnce) {
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
    // Leaves reach a supernode of 200 columns with sparse and dense sets, so all algorithms for runs are
    // used.
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
        for (FacingRun const& run : runs.of(leaf)) {
            EXPECT_GT(run.begin, previous_end) << "runs that touch or go back";
            EXPECT_EQ(run.facing, 60);
            for (Index row = run.begin; row < run.end; ++row) covered.insert(static_cast<Vertex>(row));
            previous_end = run.end;
        }
        EXPECT_EQ(covered, reached[leaf]);
    }
}

TEST(Reorder, GroupsColumnsOfTheSameDescendants) {
    // Leaves 0, 1, 2 reach every other column of the clique 3..8, or overlapping pairs.
    EdgeSet const edges{{0, 3}, {0, 5}, {0, 7}, {1, 4}, {1, 6}, {1, 8}, {2, 7}, {2, 4}};
    auto const p = prepare(graph_from(9, with_clique(edges, 3, 9)), natural_order(9));
    SymbolicOptions options{.amalgamation_fill = 0};
    auto supernodes = amalgamate(p.fundamental, options).supernodes;
    ASSERT_EQ(supernodes.size(), 4);
    auto sets = facing_sets(row_structure(p.pattern, supernodes), supernodes);
    EXPECT_EQ(row_runs(p.pattern, supernodes, sets).runs.size(), 8u);
    reorder_columns(supernodes, sets);
    EXPECT_EQ(row_runs(p.pattern, supernodes, sets).runs.size(), 3u);
    expect_partition(supernodes, p.pattern);
}

TEST(Reorder, ReducesTheRunsOfAShuffledGrid) {
    // Separators have a random order, as from graph partitioners.
    std::mt19937_64 random(13);
    Index const n = 14;
    auto const ordering = nested_dissection(n, n, n);
    auto const p = prepare(grid(n, n, n), ordering);
    auto supernodes = amalgamate(p.fundamental, {}).supernodes;
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
