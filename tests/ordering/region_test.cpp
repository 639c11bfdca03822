#include "ordering/region.hpp"

#include <gtest/gtest.h>

#include "ordering/graphs.hpp"
#include "ordering/scotch_calls.hpp"

namespace espalier {
namespace {

using namespace test;

Region induce(Region const& parent, std::vector<Index> const& inside) {
    std::vector<Index> scratch(parent.origin.size(), -1);
    Region region = espalier::induce(parent, inside, scratch);
    EXPECT_EQ(scratch, std::vector<Index>(parent.origin.size(), -1));
    return region;
}

// 0-1-2     interior 3 4, halo 0 1 5
// | | |
// 3-4-5
TEST(Region, StoresInteriorBeforeHalo) {
    Region const whole = whole_region(grid(3, 2));
    Region const region = induce(whole, {3, 4});
    EXPECT_EQ(region.num_interior, 2);
    EXPECT_EQ(region.origin, (std::vector<Index>{3, 4, 0, 1, 5}));
    EXPECT_EQ(region.ptr, (std::vector<Index>{0, 2, 5, 6, 7, 8}));
    EXPECT_EQ(region.interior_end, (std::vector<Index>{1, 3}));
    EXPECT_EQ(region.adj, (std::vector<Index>{1, 2, 0, 3, 4, 0, 1, 1}));
    EXPECT_EQ(region.interior_edges(), 2);
}

TEST(Region, InducingTwiceKeepsTheOuterHalo) {
    Graph graph = grid(5, 1);
    graph.weight = {1, 2, 3, 4, 5};
    Region const middle = induce(whole_region(graph), {1, 2, 3});
    Region const region = induce(middle, {1}); // vertex 2
    EXPECT_EQ(region.origin, (std::vector<Index>{2, 1, 3}));
    EXPECT_EQ(region.weight, (std::vector<Index>{3, 2, 4}));
    EXPECT_EQ(induce(middle, {2}).origin, (std::vector<Index>{3, 2, 4}));
}

TEST(Region, FindsItsComponents) {
    Index count = 0;
    auto const component =
        components(whole_region(side_by_side({path(3), graph_from(1, {}), path(2)})), count);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(component, (std::vector<Index>{0, 0, 0, 1, 2, 2}));
}

TEST(Separate, LeavesNoEdgeBetweenTheParts) {
    ScotchContext context(1, true);
    ScotchStrategy const strategy("n{sep=/(levl<1)?h{pass=10}f{bal=0.2};,ole=s,ose=s}");
    for (Graph const& graph : {grid(20, 20), grid(9, 9, 9), random_graph(500, 900, 2)}) {
        Region const region = whole_region(graph);
        context.reseed(3);
        auto const cut = separate(context, strategy, region);
        ASSERT_TRUE(cut.cut());
        EXPECT_GT(cut.weight[0], 0);
        EXPECT_GT(cut.weight[1], 0);
        EXPECT_EQ(cut.weight[0] + cut.weight[1] + cut.weight[2], graph.num_vertices);
        for (Index v = 0; v < graph.num_vertices; ++v)
            for (Index const w : graph.neighbors(v)) EXPECT_NE(cut.part[v] + cut.part[w], 1);
    }
}

TEST(Separate, PrefersTheLighterThenTheBetterBalancedSeparator) {
    Separation balanced{{0, 1, 2}, {50, 50, 10}}, lopsided{{0, 1, 2}, {80, 20, 10}},
        heavy{{0, 1, 2}, {45, 45, 20}};
    EXPECT_TRUE(balanced.better_than(lopsided));
    EXPECT_FALSE(lopsided.better_than(balanced));
    EXPECT_FALSE(balanced.better_than(balanced));
    EXPECT_TRUE(lopsided.better_than(heavy));
    EXPECT_TRUE(heavy.better_than(Separation{}));
    EXPECT_FALSE(Separation{}.better_than(heavy));
}

} // namespace
} // namespace espalier
