#include "ordering/lattice.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "ordering/graphs.hpp"
#include "ordering/ordering.hpp"

namespace espalier {
namespace {

using namespace test;
using Three = std::array<int, 3>;

// The graph with one edge more.
Graph with_edge(Graph const& graph, Index a, Index b) {
    Edges edges{{a, b}};
    for (Index v = 0; v < graph.num_vertices; ++v)
        for (Index const w : graph.neighbors(v)) edges.emplace_back(v, w);
    return graph_from(graph.num_vertices, edges);
}

// The lattice of a x b vertices with edges between neighbors at distances 1 and 2 along lines, and
// diagonals.
Graph biharmonic(Index a, Index b) {
    Edges edges;
    for (Index y = 0; y < b; ++y)
        for (Index x = 0; x < a; ++x)
            for (auto const& [dx, dy] :
                 {std::pair<Index, Index>{1, 0}, {2, 0}, {0, 1}, {0, 2}, {1, 1}, {-1, 1}})
                if (x + dx >= 0 && x + dx < a && y + dy < b)
                    edges.emplace_back(x + a * y, x + dx + a * (y + dy));
    return graph_from(a * b, edges);
}

// Finite elements of order two on a x b squares. The points with even coordinates are the corners.
Graph second_order_squares(Index a, Index b) {
    Index const line = 2 * a + 1;
    Edges edges;
    for (Index y = 0; y < b; ++y)
        for (Index x = 0; x < a; ++x)
            for (Index k = 0; k < 9; ++k)
                for (Index l = 0; l < k; ++l) {
                    auto const point = [&](Index m) { return 2 * x + m % 3 + line * (2 * y + m / 3); };
                    edges.emplace_back(point(l), point(k));
                }
    return graph_from(line * (2 * b + 1), edges);
}

TEST(Lattice, IsFoundWithItsSizeAndSteps) {
    struct Case {
        Graph graph;
        Three size;
        std::size_t steps;
    };
    for (auto const& [graph, size, steps] :
         {Case{grid(9, 7), {9, 7, 1}, 2}, Case{grid(6, 5, 8), {6, 5, 8}, 3},
          Case{lattice27(30, 20, 1), {30, 20, 1}, 4}, Case{lattice27(7, 6, 5), {7, 6, 5}, 13},
          Case{biharmonic(12, 17), {12, 17, 1}, 6}, Case{second_order_squares(6, 4), {13, 9, 1}, 12}}) {
        auto const lattice = find_lattice(graph);
        ASSERT_TRUE(lattice.has_value());
        EXPECT_EQ(lattice->size, size);
        EXPECT_EQ(lattice->steps.size(), steps);
    }
}

TEST(Lattice, IsNotFoundInOtherGraphs) {
    EXPECT_FALSE(find_lattice(random_graph(500, 1500, 3)));
    EXPECT_FALSE(find_lattice(complete(40)));
    EXPECT_FALSE(find_lattice(path(50)));
    EXPECT_FALSE(find_lattice(star(50)));
    // From the end of a line to the beginning of the next, across the lattice, and around it.
    EXPECT_FALSE(find_lattice(with_edge(grid(9, 7), 8, 9)));
    EXPECT_FALSE(find_lattice(with_edge(grid(9, 7), 3, 3 + 9 * 5)));
    EXPECT_FALSE(find_lattice(with_edge(grid(9, 9), 0, 72)));
}

TEST(Lattice, NeedsMostEdges) {
    Graph const whole = lattice27(30, 30, 1);
    for (int const percent : {5, 60}) {
        SplitMix64 random(1);
        Edges edges;
        for (Index v = 0; v < whole.num_vertices; ++v)
            for (Index const w : whole.neighbors(v))
                if (w > v && random.below(100) >= percent) edges.emplace_back(v, w);
        auto const lattice = find_lattice(graph_from(whole.num_vertices, edges));
        EXPECT_EQ(lattice.has_value(), percent == 5);
        if (!lattice) continue;
        std::size_t kept = 0;
        for (StepSet const& steps : lattice->steps_from) kept += steps.count();
        EXPECT_EQ(kept, edges.size());
    }
    EXPECT_TRUE(find_lattice(whole)->steps_from.empty());
    EXPECT_FALSE(find_lattice(second_order_squares(6, 4))->steps_from.empty());
}

TEST(Lattice, OrdersAreValidForAnyNumberOfThreads) {
    for (Graph const& graph : {lattice27(120, 90, 1), lattice27(20, 18, 16), biharmonic(70, 60),
                               grid(25, 24, 7), second_order_squares(40, 30)}) {
        auto const lattice = find_lattice(graph);
        ASSERT_TRUE(lattice.has_value());
        auto const perm = order_lattice(graph, *lattice, 1, nullptr);
        EXPECT_EQ(perm, order_lattice(graph, *lattice, 3, nullptr));
        auto sorted = perm;
        std::ranges::sort(sorted);
        for (Index k = 0; k < graph.num_vertices; ++k) ASSERT_EQ(sorted[k], k);
    }
}

// The separators of a plane have at most so many points that fill grows like 31/4 n log2 n (George 1973; the
// constant is that of 9 points).
TEST(Lattice, PlanesFillLittle) {
    Graph const graph = lattice27(127, 127, 1);
    auto const perm = order_lattice(graph, *find_lattice(graph), 1, nullptr);
    double const n = 127;
    EXPECT_LE(static_cast<double>(fill_by_elimination(graph, perm)), 31.0 / 4 * n * n * std::log2(n));
}

// No edge crosses the lines between elements, although there are edges across all other lines.
TEST(Lattice, CutsBetweenElements) {
    Index const elements = 32, line = 2 * elements + 1;
    Graph const graph = second_order_squares(elements, elements);
    auto const perm = order_lattice(graph, *find_lattice(graph), 1, nullptr);
    std::set<Index> x, y;
    for (Index v = 0; v < graph.num_vertices; ++v) {
        if (perm[v] < graph.num_vertices - line) continue;
        x.insert(v % line);
        y.insert(v / line);
    }
    auto const& across = x.size() == 1 ? x : y;
    ASSERT_EQ(across.size(), 1);
    EXPECT_EQ(*across.begin() % 2, 0);
    double const n = static_cast<double>(line);
    EXPECT_LE(static_cast<double>(fill_by_elimination(graph, perm)), 31.0 / 4 * n * n * std::log2(n));
}

// Steps of two points make layers twice as thick. The lattice is then like one with half of the points, which
// has a quarter of the entries.
TEST(Lattice, ObliqueLayersFitTheSteps) {
    Index const a = 60, b = 80;
    Edges edges;
    for (Index v = 0; v < a * b; ++v) {
        if (v % a + 1 < a) edges.emplace_back(v, v + 1);
        for (Index const step : {a, 2 * a})
            if (v + step < a * b) edges.emplace_back(v, v + step);
    }
    auto const fill = [](Graph const& graph) {
        return static_cast<double>(
            fill_by_elimination(graph, order_lattice(graph, *find_lattice(graph), 1, nullptr)));
    };
    EXPECT_LT(fill(graph_from(a * b, edges)), 4.4 * fill(grid(a, b / 2)));
}

// Without edges between lines 20 and 21, the lines before them come first, and then those after them.
TEST(Lattice, SeparatePartsNeedNoSeparator) {
    Index const a = 20, b = 31, n = a * b;
    Edges edges{{14 * a, 16 * a}};
    for (Index v = 0; v < n; ++v) {
        if (v % a + 1 < a) edges.emplace_back(v, v + 1);
        if (v + a < n && v / a != 20) edges.emplace_back(v, v + a);
    }
    Graph const graph = graph_from(n, edges);
    auto const lattice = find_lattice(graph);
    ASSERT_TRUE(lattice);
    auto const perm = order_lattice(graph, *lattice, 1, nullptr);
    for (Index v = 0; v < n; ++v) EXPECT_EQ(v / a > 20, perm[v] >= 21 * a);
}

TEST(Lattice, WeightsDoNotHideIt) {
    Graph graph = grid(40, 30);
    for (Index v = 0; v < graph.num_vertices; ++v) graph.weight.push_back(1 + v % 3);
    EXPECT_TRUE(find_lattice(graph));
    OrderingOptions options;
    options.method = OrderingMethod::dissection;
    EXPECT_EQ(compute_ordering(graph, options).perm, order_lattice(graph, *find_lattice(graph), 1, nullptr));
}

} // namespace
} // namespace espalier
