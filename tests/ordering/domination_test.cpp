#include "ordering/domination.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "graphs.hpp"

namespace espalier {

namespace {

using namespace test;

// Whether w has all neighbors of its neighbor v, and more.
bool dominates(Graph const& graph, Index w, Index v) {
    auto const of_v = graph.neighbors(v), of_w = graph.neighbors(w);
    return graph.degree(w) > graph.degree(v) && std::ranges::all_of(of_v, [&](Index u) {
               return u == w || std::ranges::binary_search(of_w, u);
           });
}

TEST(Domination, MatchesTheDefinition) {
    for (Graph const& graph :
         {grid(7, 5), star(9), path(6), complete(5), lattice27(4, 3, 5), quadratic_elements(3, 2, 2),
          random_graph(300, 900, 1), random_graph(80, 900, 2)}) {
        auto const [vertices, dominates_others] = find_undominated(graph);
        std::vector<Vertex> expected;
        std::vector<std::uint8_t> expected_flags;
        for (Index v = 0; v < graph.num_vertices; ++v) {
            auto const neighbors = graph.neighbors(v);
            if (std::ranges::any_of(neighbors, [&](Index w) { return dominates(graph, w, v); })) continue;
            expected.push_back(static_cast<Vertex>(v));
            expected_flags.push_back(
                std::ranges::any_of(neighbors, [&](Index w) { return dominates(graph, v, w); }) ? 1 : 0);
        }
        EXPECT_EQ(vertices, expected);
        EXPECT_EQ(dominates_others, expected_flags);
    }
}

TEST(Domination, TheVerticesOfAMeshDominateTheMiddlesOfItsEdges) {
    Graph const graph = quadratic_elements(4, 4, 4);
    for (Vertex const v : find_undominated(graph).vertices) EXPECT_LT(v, 125);
}

} // namespace

} // namespace espalier
