#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "ordering/graphs.hpp"
#include "ordering/scotch_calls.hpp"

namespace espalier {
namespace {

using namespace test;

Region region_of(Graph const& graph, std::vector<Index> const& inside) {
    std::vector<Index> scratch(graph.num_vertices, -1);
    return induce(whole_region(graph), inside, scratch);
}

// Eliminates on sets of neighbors and checks that each pivot has the minimum external weight.
void expect_minimum_degree(Region const& region, std::vector<Index> const& position) {
    std::vector<std::set<Index>> lists(region.origin.size());
    for (Index v = 0; v < region.num_vertices(); ++v)
        lists[v].insert(region.adj.begin() + region.ptr[v], region.adj.begin() + region.ptr[v + 1]);
    auto const degree = [&](Index v) {
        Index sum = 0;
        for (Index const w : lists[v]) sum += region.weight_of(w);
        return sum;
    };
    std::vector<Index> order(position.size(), -1);
    for (std::size_t v = 0; v < position.size(); ++v) order.at(position[v]) = static_cast<Index>(v);
    std::set<Index> left(order.begin(), order.end());
    ASSERT_EQ(left.size(), position.size());
    for (Index const pivot : order) {
        for (Index const other : left) ASSERT_LE(degree(pivot), degree(other));
        left.erase(pivot);
        for (Index const u : lists[pivot]) {
            lists[u].insert(lists[pivot].begin(), lists[pivot].end());
            lists[u].erase(u);
            lists[u].erase(pivot);
        }
    }
}

TEST(Leaf, SelectsAVertexOfMinimumDegreeInEachStep) {
    std::vector<Index> first_half(40);
    std::iota(first_half.begin(), first_half.end(), Index(0));
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
        Graph graph = random_graph(80, 100 + 20 * seed, seed);
        auto const unweighted = region_of(graph, first_half);
        expect_minimum_degree(unweighted, order_leaf(unweighted));
        for (Index v = 0; v < 80; ++v) graph.weight.push_back(1 + (v * 11 + seed) % 5);
        auto const weighted = region_of(graph, first_half);
        expect_minimum_degree(weighted, order_leaf(weighted));
    }
}

// 0 - 1 - 2 is the interior; 0 and 2 have two neighbors each in the halo. Without the halo 0 or 2 would be
// first.
TEST(Leaf, CountsTheHalo) {
    Graph const graph = graph_from(7, {{0, 1}, {1, 2}, {0, 3}, {0, 4}, {2, 5}, {2, 6}});
    EXPECT_EQ(order_leaf(region_of(graph, {0, 1, 2}))[1], 0);
}

TEST(Leaf, ALargeRegionIsOrderedToo) {
    for (Graph const& graph : {grid(20, 20), graph_from(300, {}), star(400)}) {
        auto const position = order_leaf(whole_region(graph));
        std::set<Index> const distinct(position.begin(), position.end());
        EXPECT_EQ(static_cast<Index>(distinct.size()), graph.num_vertices);
        EXPECT_EQ(*distinct.begin(), 0);
        EXPECT_EQ(*distinct.rbegin(), graph.num_vertices - 1);
    }
    EXPECT_TRUE(order_leaf(Region{}).empty());
}

TEST(Dissect, NumbersSeparatorsAfterTheirParts) {
    ScotchContext context(1, true);
    ScotchStrategy const strategy("n{sep=/(vert>20)?h{pass=10}f{bal=0.2};,ole=s,ose=s}");
    Graph const graph = grid(12, 12);
    context.reseed(1);
    auto const blocks = dissect(context, strategy, whole_region(graph));
    auto const block_of = [&](Index v) {
        return std::upper_bound(blocks.start.begin(), blocks.start.end(), blocks.position[v]) -
               blocks.start.begin() - 1;
    };
    EXPECT_EQ(blocks.start.front(), 0);
    EXPECT_EQ(blocks.start.back(), 144);
    EXPECT_GT(std::count(blocks.is_leaf.begin(), blocks.is_leaf.end(), true), 4);
    for (Index v = 0; v < 144; ++v)
        for (Index const w : graph.neighbors(v))
            if (block_of(w) > block_of(v)) { // no two leaves touch
                EXPECT_FALSE(blocks.is_leaf[block_of(w)]);
            }
}

} // namespace
} // namespace espalier
