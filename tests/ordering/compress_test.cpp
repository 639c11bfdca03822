#include "ordering/compress.hpp"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "ordering/graphs.hpp"
#include "ordering/induced_subgraph.hpp"
#include "ordering/ordering.hpp"

namespace espalier {
namespace {

using namespace test;

// The groups from comparisons of all pairs of neighborhoods: closed, or open for vertices in `last`, without
// the edges between them.
std::vector<Index> brute_force_groups(Graph const& graph, std::set<Index> const& last = {}) {
    std::map<std::pair<bool, std::set<Index>>, Index> group_of;
    std::vector<Index> result;
    for (Index v = 0; v < graph.num_vertices; ++v) {
        bool const is_last = last.count(v) > 0;
        std::set<Index> neighbors;
        for (Index const w : graph.neighbors(v))
            if (!is_last || !last.count(w)) neighbors.insert(w);
        if (!is_last) neighbors.insert(v);
        result.push_back(
            group_of.try_emplace({is_last, neighbors}, static_cast<Index>(group_of.size())).first->second);
    }
    return result;
}

void expect_quotient(Graph const& graph, CompressedGraph const& compressed) {
    auto const& quotient = compressed.graph;
    std::vector<std::set<Index>> lists(quotient.num_vertices);
    std::vector<Index> weight(lists.size(), 0);
    for (Index v = 0; v < graph.num_vertices; ++v) {
        Index const group = compressed.vertex_of_row[v];
        weight[group] += graph.weight_of(v);
        for (Index const w : graph.neighbors(v))
            if (Index const other = compressed.vertex_of_row[w]; other != group) lists[group].insert(other);
    }
    ASSERT_EQ(quotient.ptr.size(), lists.size() + 1);
    for (Index g = 0; g < quotient.num_vertices; ++g) {
        std::vector<Index> const expected(lists[g].begin(), lists[g].end());
        EXPECT_TRUE(std::ranges::equal(quotient.neighbors(g), expected)) << "group " << g;
        EXPECT_EQ(quotient.weight_of(g), weight[g]) << "group " << g;
    }
}

TEST(Compress, FindsTheGroupsOfBruteForce) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        Graph const small = random_graph(30, 45 + seed, seed);
        std::vector<Index> copies;
        for (Index v = 0; v < 30; ++v) copies.push_back(1 + (v * 7 + seed) % 4);
        std::vector<Index> group;
        Graph const graph = blow_up(small, copies, seed, group);
        auto const compressed = compress(graph);
        EXPECT_EQ(compressed.vertex_of_row, brute_force_groups(graph));
        EXPECT_LT(compressed.graph.num_vertices, graph.num_vertices);
        expect_quotient(graph, compressed);
    }
}

TEST(Compress, AddsTheWeightsOfAWeightedGraph) {
    std::vector<Index> group;
    Graph graph = blow_up(grid(4, 3), std::vector<Index>(12, 3), 5, group);
    for (Index v = 0; v < graph.num_vertices; ++v) graph.weight.push_back(1 + v % 5);
    auto const compressed = compress(graph);
    EXPECT_EQ(compressed.graph.num_vertices, 12);
    expect_quotient(graph, compressed);
}

TEST(Compress, ReturnsAGraphWithFewTwinsUnchanged) {
    Graph const graph = grid(6, 6);
    auto const compressed = compress(graph);
    EXPECT_EQ(compressed.graph.adj, graph.adj);
    EXPECT_EQ(compressed.graph.ptr, graph.ptr);
    EXPECT_TRUE(compressed.graph.weight.empty());
    for (Index v = 0; v < 36; ++v) EXPECT_EQ(compressed.vertex_of_row[v], v);
}

TEST(Compress, AcceptsEmptyAndEdgelessGraphs) {
    EXPECT_EQ(compress(Graph{}).graph.num_vertices, 0);
    EXPECT_EQ(compress(graph_from(7, {})).graph.num_vertices, 7);
}

TEST(CompressWithPairs, MakesOneVertexOfEachPair) { // 0 - 1 - 2 - 3 - 4 with 0, 3 and 1, 2 paired
    auto const compressed = compress(path(5), {}, {{0, 3}, {1, 2}});
    EXPECT_EQ(compressed.vertex_of_row, (std::vector<Index>{0, 1, 1, 0, 2}));
    EXPECT_EQ(compressed.graph.weight, (std::vector<Index>{2, 2, 1}));
    EXPECT_EQ(compressed.graph.ptr, (std::vector<Offset>{0, 2, 3, 4}));
    EXPECT_EQ(compressed.graph.adj, (std::vector<Index>{1, 2, 0, 0}));
}

TEST(CompressWithPairs, CompressesTheMergedGraph) { // the pairs of a complete graph are indistinguishable
    auto const compressed = compress(complete(6), {}, {{0, 5}, {1, 4}, {2, 3}});
    EXPECT_EQ(compressed.graph.num_vertices, 1);
    EXPECT_EQ(compressed.graph.weight, std::vector<Index>{6});
    EXPECT_EQ(compressed.vertex_of_row, std::vector<Index>(6, 0));
}

TEST(CompressWithLast, FindsTheGroupsOfBruteForce) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::vector<Index> group;
        Graph const graph =
            blow_up(random_graph(25, 35 + seed, seed), std::vector<Index>(25, 4), seed, group);
        std::vector<Index> last;
        for (Index v = 0; v < 100; ++v) // some groups whole, some in part
            if (group[v] % 5 == 0 || (group[v] % 5 == 1 && v % 2 == 0)) last.push_back(v);
        std::shuffle(last.begin(), last.end(), std::mt19937(seed));
        auto const compressed = compress(graph, last);
        EXPECT_EQ(compressed.vertex_of_row, brute_force_groups(graph, {last.begin(), last.end()}));
        std::set<Index> expected;
        for (Index const v : last) expected.insert(compressed.vertex_of_row[v]);
        EXPECT_EQ(compressed.last, std::vector<Index>(expected.begin(), expected.end()));
        Index weight = 0;
        for (Index const v : compressed.last) weight += compressed.graph.weight_of(v);
        EXPECT_EQ(weight, static_cast<Index>(last.size()));
    }
}

TEST(CompressWithLast, IgnoresPairsWithLastVertices) {
    std::vector<Index> const last{3};
    auto const graph = compress(path(5), last, {{0, 3}, {1, 2}});
    EXPECT_EQ(graph.vertex_of_row, (std::vector<Index>{0, 1, 1, 2, 3}));
    EXPECT_EQ(graph.last, (std::vector<Index>{2}));
}

TEST(CompressWithLast, AcceptsNoneAndAll) {
    auto const none = compress(grid(4, 4));
    EXPECT_EQ(none.graph.adj, grid(4, 4).adj);
    EXPECT_TRUE(none.last.empty());
    std::vector<Index> all(16);
    std::iota(all.begin(), all.end(), Index(0));
    auto const everything = compress(grid(4, 4), all);
    EXPECT_EQ(everything.graph.weight, std::vector<Index>{16}); // edges between them do not count
    EXPECT_EQ(everything.last, std::vector<Index>{0});
    EXPECT_EQ(compute_ordering(everything, {}).perm, std::vector<Index>{0});
}

TEST(CompressWithLast, RejectsInvalidOrRepeatedVertices) {
    for (std::vector<Index> const& wrong : std::vector<std::vector<Index>>{{16}, {-1}, {3, 4, 3}})
        EXPECT_THROW(compress(grid(4, 4), wrong), Error);
}

TEST(OrderWithLast, OrdersTheInteriorIndependently) {
    std::vector<Index> const last{40, 7, 8, 9, 55};
    for (auto const method : {OrderingMethod::scotch, OrderingMethod::metis, OrderingMethod::amd}) {
        OrderingOptions options;
        options.method = method;
        auto const graph = compress(grid(8, 8), last);
        auto const ordering = compute_ordering(graph, options);
        std::vector<Index> interior;
        for (Index v = 0; v < 64; ++v)
            if (std::find(last.begin(), last.end(), v) == last.end()) interior.push_back(v);
        auto const alone = compute_ordering(induced_subgraph(graph.graph, interior), options);
        for (std::size_t k = 0; k < interior.size(); ++k) {
            EXPECT_EQ(ordering.inverse[k], interior[alone.inverse[k]]);
            EXPECT_EQ(ordering.perm[ordering.inverse[k]], static_cast<Index>(k));
        }
        EXPECT_EQ(std::vector<Index>(ordering.inverse.begin() + 59, ordering.inverse.end()),
                  (std::vector<Index>{7, 8, 9, 40, 55}));
    }
}

TEST(OrderWithLast, AcceptsOrderingsOfRows) {
    std::vector<Index> const last{1, 4};
    OrderingOptions options;
    options.method = OrderingMethod::natural;
    auto const ordering = compute_ordering(uncompressed(path(6), last), options);
    EXPECT_EQ(ordering.inverse, (std::vector<Index>{0, 2, 3, 5, 1, 4}));
    EXPECT_EQ(ordering.perm, (std::vector<Index>{0, 4, 1, 2, 5, 3}));
}

// Quadratic comparison would take minutes. Twins that are not neighbors, such as the leaves, are not merged.
TEST(Compress, IsLinearOnAStarOfAHundredThousand) {
    EXPECT_EQ(compress(star(100000)).graph.num_vertices, 100000);
    std::vector<Graph> pairs(50000, path(2));
    EXPECT_EQ(compress(side_by_side(pairs)).graph.num_vertices, 50000);
}

} // namespace
} // namespace espalier
