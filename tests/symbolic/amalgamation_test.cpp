#include "symbolic/amalgamation.hpp"

#include <gtest/gtest.h>

#include "symbolic/prepared.hpp"

namespace espalier {
namespace {

using namespace testing;

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

TEST(Amalgamation, WithoutFillStoresNoZeros) {
    std::mt19937_64 random(10);
    for (int seed = 0; seed < 100; ++seed) {
        auto const graph = random_graph(50, 0.5 + 0.02 * seed, random);
        auto const p = prepare(graph, random_order(50, random));
        SymbolicOptions options{.amalgamation_fill = 0};
        auto const [merged, prices] = amalgamate(p.fundamental, options);
        expect_partition(merged, p.pattern);
        EXPECT_FALSE(prices);
        EXPECT_EQ(stored_entries(merged), static_cast<double>(p.counts.nnz));
        EXPECT_LE(merged.size(), p.fundamental.size());
    }
}

TEST(Amalgamation, StaysWithinItsBoundsOnAGridAndWidensLeaves) {
    auto const p = prepare_grid(20);
    SymbolicOptions options;
    auto const [merged, prices] = amalgamate(p.fundamental, options);
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

TEST(Amalgamation, ALowerLimitReducesTheFill) {
    auto const p = prepare_grid(12);
    SymbolicOptions options;
    double previous = stored_entries(amalgamate(p.fundamental, options).supernodes);
    for (double fill : {0.05, 0.02, 0.01, 0.0}) {
        options.amalgamation_fill = fill;
        double const entries = stored_entries(amalgamate(p.fundamental, options).supernodes);
        EXPECT_LE(entries, previous);
        previous = entries;
    }
    EXPECT_EQ(previous, static_cast<double>(p.counts.nnz));
}

TEST(Bundling, MergesTheLeavesOfAnArrowMatrix) {
    auto const p = prepare(star(1001, 1000), natural_order(1001));
    auto const bundled = bundle_siblings(p.pattern, p.fundamental, {});
    expect_partition(bundled, p.pattern);
    EXPECT_LE(bundled.size(), 1000 / bundle_width + 2);
    for (SupernodeId s = 0; s < bundled.size(); ++s) {
        EXPECT_LE(bundled.width[s], bundle_width);
        EXPECT_EQ(bundled.below[s], bundled.parent[s] == no_supernode ? 0 : 1);
    }
}

TEST(Bundling, DoesNotMergeSiblingsWithFewCommonRows) {
    // Two vertices with 60 neighbors each in a clique of 120, which only share the first.
    EdgeSet edges{{0, 2}, {1, 2}};
    for (Index k = 0; k < 60; ++k) {
        edges.emplace(0, 2 + k);
        edges.emplace(1, 62 + k);
    }
    auto const p = prepare(graph_from(122, with_clique(edges, 2, 122)), natural_order(122));
    auto const bundled = bundle_siblings(p.pattern, p.fundamental, {});
    EXPECT_EQ(bundled.size(), p.fundamental.size());
}

TEST(Bundling, AddsFewZerosBeyondTheLimitOfAmalgamation) {
    // Scattered leaves below a tall parent are the case for which bundling could store many zeros.
    std::mt19937_64 random(15);
    auto const p = prepare(random_graph(4000, 1.2, random), random_order(4000, random));
    for (double fill : {0.15, 0.05, 0.01}) {
        SymbolicOptions options{.amalgamation_fill = fill};
        auto const [merged, prices] = amalgamate(p.fundamental, options);
        ASSERT_TRUE(prices);
        auto const bundled = bundle_siblings(p.pattern, merged, *prices);
        expect_partition(bundled, p.pattern);
        EXPECT_LT(stored_entries(bundled), stored_entries(bundle_siblings(p.pattern, merged, {})));
        double const base = static_cast<double>(p.counts.nnz) + 64.0 * p.fundamental.size();
        EXPECT_LE(stored_entries(bundled) - static_cast<double>(p.counts.nnz), 1.5 * fill * base);
    }
}

} // namespace
} // namespace espalier
