#include "ordering/multilevel_cut.hpp"

#include <gtest/gtest.h>

#include "core/scalar.hpp"
#include "ordering/graphs.hpp"

namespace espalier {
namespace {

using namespace test;

void expect_valid(CutGraph const& graph, Cut const& cut) {
    ASSERT_EQ(std::ssize(cut.part), graph.num_vertices());
    std::array<std::int64_t, 3> weight{};
    for (Vertex v = 0; v < graph.num_vertices(); ++v) {
        ASSERT_LE(cut.part[v], 2);
        weight[cut.part[v]] += graph.weight[v];
        for (Vertex const w : graph.neighbors(v)) ASSERT_NE(cut.part[v] + cut.part[w], 1);
    }
    EXPECT_EQ(weight, cut.weight);
}

CutGraph weighted(Graph graph) {
    for (Index v = 0; v < graph.num_vertices; ++v) graph.weight.push_back(1 + v % 6);
    return cut_graph(graph);
}

TEST(CutRefinement, GrownAndRefinedCutsSeparateTheirParts) {
    CutRefinement refinement;
    for (CutGraph const& graph :
         {cut_graph(grid(30, 20)), weighted(grid(9, 8, 7)), cut_graph(random_graph(500, 1500, 3)),
          weighted(side_by_side({grid(9, 9), path(40), star(30)})), cut_graph(complete(20))}) {
        Cut cut;
        refinement.grow(graph, graph.num_vertices() / 3, cut);
        expect_valid(graph, cut);
        double const grown = cut.price();
        refinement.refine(graph, cut);
        expect_valid(graph, cut);
        EXPECT_LE(cut.price(), grown);
    }
}

TEST(CutRefinement, StraightensASeparatorOfAGrid) {
    // The separator is column 10, with a detour around three vertices of row 4.
    CutGraph const graph = cut_graph(grid(20, 9));
    Cut cut;
    for (Index y = 0; y < 9; ++y)
        for (Index x = 0; x < 20; ++x) {
            Index const first = y == 4 ? 13 : 10, last = y == 4 ? 13 : y == 3 || y == 5 ? 12 : 10;
            cut.part.push_back(static_cast<std::uint8_t>(x < first ? 0 : x <= last ? 2 : 1));
        }
    cut.set_weights(graph);
    expect_valid(graph, cut);
    EXPECT_EQ(cut.weight[2], 13);
    CutRefinement().refine(graph, cut);
    expect_valid(graph, cut);
    EXPECT_EQ(cut.weight[2], 9);
}

TEST(Bisection, KeepsItsSumsAndItsBalance) {
    Bisection bisection;
    for (CutGraph const& graph :
         {cut_graph(grid(30, 20)), weighted(grid(9, 8, 7)), cut_graph(random_graph(500, 1500, 3)),
          weighted(side_by_side({grid(9, 9), path(40), star(30)})), cut_graph(complete(20))}) {
        auto const expect_consistent = [&](Halves const& halves) {
            std::array<std::int64_t, 2> weight{};
            std::int64_t twice = 0;
            for (Vertex v = 0; v < graph.num_vertices(); ++v) {
                weight[halves.part[v]] += graph.weight[v];
                for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
                    if (halves.part[graph.adj[e]] != halves.part[v]) twice += graph.weight_of_edge(e);
            }
            EXPECT_EQ(weight, halves.weight);
            EXPECT_EQ(twice, 2 * halves.cut_edges);
        };
        Halves halves;
        bisection.grow(graph, graph.num_vertices() / 3, halves);
        expect_consistent(halves);
        EXPECT_GE(2 * halves.weight[0], graph.total);
        std::int64_t const grown = halves.cut_edges;
        bisection.refine(graph, halves);
        expect_consistent(halves);
        EXPECT_LE(halves.cut_edges, grown);
        EXPECT_LE(10 * std::max(halves.weight[0], halves.weight[1]), 6 * graph.total);
        Cut cut;
        bisection.separate(graph, halves, cut);
        expect_valid(graph, cut);
    }
}

TEST(MultilevelCut, FindsThePlaneOfALatticeWithDiagonals) {
    Cut cut;
    MultilevelCut::Settings settings;
    CutGraph const graph = cut_graph(lattice27(25, 25, 24));
    ASSERT_TRUE(MultilevelCut().find(graph, settings, cut));
    expect_valid(graph, cut);
    EXPECT_EQ(cut.weight[2], 600);
}

TEST(MultilevelCut, CutsLatticesAsWellAsPlanesDo) {
    MultilevelCut cuts;
    Cut cut;
    MultilevelCut::Settings settings;
    CutGraph const square = cut_graph(grid(60, 40));
    ASSERT_TRUE(cuts.find(square, settings, cut));
    expect_valid(square, cut);
    EXPECT_LE(cut.weight[2], 42);
    CutGraph const cube = cut_graph(grid(16, 16, 16));
    ASSERT_TRUE(cuts.find(cube, settings, cut));
    expect_valid(cube, cut);
    EXPECT_LE(cut.weight[2], 230); // a plane along the axes has 256, and a slanted one about 195
}

TEST(MultilevelCut, NeedsNoSeparatorBetweenComponents) {
    CutGraph const graph = cut_graph(side_by_side({grid(20, 20), grid(20, 20)}));
    Cut cut;
    MultilevelCut::Settings settings;
    ASSERT_TRUE(MultilevelCut().find(graph, settings, cut));
    EXPECT_EQ(cut.weight, (std::array<std::int64_t, 3>{400, 400, 0}));
}

TEST(MultilevelCut, DoesNotCutACompleteGraph) {
    Cut cut;
    MultilevelCut::Settings settings;
    EXPECT_FALSE(MultilevelCut().find(cut_graph(complete(200)), settings, cut));
}

TEST(MultilevelCut, DoesNotDependOnEarlierCuts) {
    CutGraph const graph = weighted(grid(14, 13, 12));
    MultilevelCut used;
    Cut first, second;
    MultilevelCut::Settings settings{.seed = 7}, same{.seed = 7}, other{.seed = 8};
    used.find(cut_graph(random_graph(4000, 9000, 5)), other, first);
    used.find(graph, settings, first);
    MultilevelCut().find(graph, same, second);
    EXPECT_EQ(first.part, second.part);
}

TEST(CutGraph, PartsKeepWeightsAndInnerEdges) {
    CutGraph const graph = weighted(grid(3, 2));
    Cut cut{{0, 2, 1, 0, 2, 1}, {}};
    cut.set_weights(graph);
    std::vector<Vertex> number(6, -1);
    CutGraph const part = part_of(graph, cut, 1, number);
    EXPECT_EQ(part.weight, (std::vector<std::int32_t>{3, 6}));
    EXPECT_EQ(part.total, 9);
    EXPECT_EQ(part.ptr, (std::vector<Offset>{0, 1, 2}));
    EXPECT_EQ(part.adj, (std::vector<Vertex>{1, 0}));
    EXPECT_EQ(number, (std::vector<Vertex>{-1, -1, 0, -1, -1, 1}));
}

// Parts of 40 % and 60 % cost less than a separator that is 5 % heavier; parts of 10 % and 90 % do not.
TEST(Cut, PriceAllowsUnequalPartsForASmallerSeparator) {
    auto const price = [](std::int64_t less, std::int64_t more, std::int64_t separator) {
        return Cut{{}, {less, more, separator}}.price();
    };
    EXPECT_LT(price(4000, 6000, 95), price(5000, 5000, 100));
    EXPECT_GT(price(1000, 9000, 95), price(5000, 5000, 100));
    EXPECT_EQ(price(0, 10000, 95), infinity);
}

} // namespace
} // namespace espalier
