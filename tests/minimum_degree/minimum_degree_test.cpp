#include "minimum_degree/minimum_degree.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "minimum_degree/quotient_graph.hpp"

namespace espalier {
namespace {

using EdgeSet = std::set<std::pair<std::int32_t, std::int32_t>>; // both directions

EdgeSet random_edges(std::int32_t n, std::int32_t count, std::uint64_t seed) {
    SplitMix64 random(seed);
    EdgeSet edges;
    for (std::int32_t k = 0; k < count; ++k) {
        auto const i = static_cast<std::int32_t>(random.below(n)),
                   j = static_cast<std::int32_t>(random.below(n));
        if (i != j) edges.insert({{i, j}, {j, i}});
    }
    return edges;
}

// Vertices k and k + side of a square grid are neighbors.
EdgeSet grid_edges(std::int32_t side) {
    EdgeSet edges;
    for (std::int32_t k = 0; k < side * side; ++k) {
        if (k % side > 0) edges.insert({{k, k - 1}, {k - 1, k}});
        if (k >= side) edges.insert({{k, k - side}, {k - side, k}});
    }
    return edges;
}

struct Ordered {
    std::vector<std::int32_t> order;
    EliminationCost costs;
};

Ordered order_entries(std::int32_t n, EdgeSet const& edges, bool with_both_triangles) {
    std::vector<std::int32_t> ptr{0}, ind;
    for (std::int32_t j = 0; j < n; ++j) {
        ind.push_back(j);
        for (auto e = edges.lower_bound({j, 0}); e != edges.end() && e->first == j; ++e)
            if (e->second < j || with_both_triangles) ind.push_back(e->second);
        ptr.push_back(static_cast<std::int32_t>(ind.size()));
    }
    Ordered result{std::vector<std::int32_t>(n, -1), {}};
    result.costs = *minimum_degree({ptr, ind, with_both_triangles}, result.order);
    return result;
}

// The result of minimum_degree() for the upper triangle, to which it adds the lower one.
Ordered order_upper(std::int32_t n, EdgeSet const& edges) {
    return order_entries(n, edges, false);
}

bool is_permutation_of_all(std::vector<std::int32_t> sorted) {
    std::ranges::sort(sorted);
    for (std::size_t k = 0; k < sorted.size(); ++k)
        if (sorted[k] != static_cast<std::int32_t>(k)) return false;
    return true;
}

// The entries of L below the diagonal, by the elimination of sets.
Offset fill_of(std::int32_t n, EdgeSet const& edges, std::vector<std::int32_t> const& order) {
    std::vector<std::int32_t> position(n);
    for (std::int32_t k = 0; k < n; ++k) position[order[k]] = k;
    std::vector<std::set<std::int32_t>> below(n);
    for (auto const& [i, j] : edges)
        if (position[i] > position[j]) below[position[j]].insert(position[i]);
    Offset entries = 0;
    for (auto& rows : below) {
        entries += std::ssize(rows);
        if (rows.empty()) continue;
        std::int32_t const parent = *rows.begin();
        rows.erase(rows.begin());
        below[parent].insert(rows.begin(), rows.end());
    }
    return entries;
}

// Columns of a band of n rows, of which every `step`-th diagonal is stored, for symmetric or triangular ones.
Ordered order_band(std::int32_t n, std::int32_t width, std::int32_t step, bool with_both_triangles) {
    EdgeSet edges;
    for (std::int32_t d = width; d > 0; d -= step)
        for (std::int32_t k = d; k < n; ++k) edges.insert({{k, k - d}, {k - d, k}});
    return order_entries(n, edges, with_both_triangles);
}

TEST(MinimumDegree, KeepsTheOrderOfNarrowBands) {
    for (bool const with_both_triangles : {true, false}) {
        auto const [order, costs] = order_band(500, 9, 1, with_both_triangles);
        for (std::int32_t k = 0; k < 500; ++k) ASSERT_EQ(order[k], k);
        EXPECT_EQ(costs.nnz_lower, 9 * 500 - 9 * 10 / 2);
        double flops = 0;
        for (int k = 0; k < 500; ++k) {
            int const rows = std::min(9, 499 - k);
            flops += rows + 2 * rows * rows;
        }
        EXPECT_EQ(costs.flops, flops);
    }
    // Bands that are wide or mostly empty are ordered.
    for (auto const& [width, step] : {std::pair{40, 1}, {20, 4}}) {
        auto const order = order_band(500, width, step, true).order;
        EXPECT_FALSE(std::ranges::is_sorted(order)) << width;
    }
}

TEST(MinimumDegree, RefusesBandsOfTooManyOperations) {
    std::vector<std::int32_t> ptr{0}, ind, order(100);
    for (std::int32_t j = 0; j < 100; ++j) {
        if (j > 0) ind.push_back(j - 1);
        if (j + 1 < 100) ind.push_back(j + 1);
        ptr.push_back(static_cast<std::int32_t>(ind.size()));
    }
    EXPECT_TRUE(minimum_degree({ptr, ind, true}, order, 297));
    EXPECT_FALSE(minimum_degree({ptr, ind, true}, order, 296));
}

TEST(MinimumDegree, BoundsTheFillOfRandomGraphsClosely) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        auto const n = static_cast<std::int32_t>(1 + 7 * seed);
        auto const edges = random_edges(n, static_cast<std::int32_t>(2 * n), seed);
        for (bool const with_both_triangles : {false, true}) {
            auto const [order, costs] = order_entries(n, edges, with_both_triangles);
            ASSERT_TRUE(is_permutation_of_all(order)) << n;
            Offset const fill = fill_of(n, edges, order);
            EXPECT_GE(costs.nnz_lower, fill) << n;
            EXPECT_LE(static_cast<double>(costs.nnz_lower), 1.15 * static_cast<double>(fill) + 1) << n;
        }
    }
}

TEST(MinimumDegree, OrdersGridsAsWellAsAmd) {
    constexpr std::int32_t side = 40;
    auto const edges = grid_edges(side);
    auto const [order, costs] = order_upper(side * side, edges);
    ASSERT_TRUE(is_permutation_of_all(order));
    // AMD 2.4.6 bounds its fill by 19,171; the natural order has 62,000.
    EXPECT_LT(fill_of(side * side, edges, order), 19'200);
}

TEST(MinimumDegree, CausesNoFillOnTreesAndCountsTheOperations) {
    SplitMix64 random(3);
    constexpr std::int32_t n = 500;
    EdgeSet edges;
    for (std::int32_t v = 1; v < n; ++v) {
        auto const w = static_cast<std::int32_t>(random.below(v));
        edges.insert({{v, w}, {w, v}});
    }
    auto const [order, costs] = order_upper(n, edges);
    EXPECT_EQ(fill_of(n, edges, order), n - 1);
    EXPECT_EQ(costs.nnz_lower, n - 1);
    EXPECT_EQ(costs.flops, 3.0 * (n - 1)); // a division, a product and a difference for each edge
}

TEST(MinimumDegree, StopsWhenItNeedsTooManyOperations) {
    constexpr std::int32_t side = 30, n = side * side;
    std::vector<std::int32_t> ptr{0}, ind;
    for (std::int32_t k = 0; k < n; ++k) {
        if (k % side > 0) ind.push_back(k - 1);
        if (k >= side) ind.push_back(k - side);
        ptr.push_back(static_cast<std::int32_t>(ind.size()));
    }
    std::vector<std::int32_t> order(n, -1);
    double const flops = minimum_degree({ptr, ind}, order)->flops;
    std::vector<std::int32_t> stopped(n, -1);
    EXPECT_FALSE(minimum_degree({ptr, ind}, stopped, 0.99 * flops));
    EXPECT_EQ(stopped, std::vector<std::int32_t>(n, -1));
    auto const costs = minimum_degree({ptr, ind}, stopped, flops);
    ASSERT_TRUE(costs);
    EXPECT_EQ(costs->flops, flops);
    EXPECT_EQ(stopped, order);
}

// Cliques of `size` vertices, each of which shares the vertices from `step` on with the next one.
SquarePattern cliques(std::int32_t count, std::int32_t size, std::int32_t step,
                      std::vector<std::int32_t>& ptr, std::vector<std::int32_t>& ind) {
    std::int32_t const n = (count - 1) * step + size;
    ptr.assign(1, 0);
    ind.clear();
    for (std::int32_t j = 0; j < n; ++j) {
        std::int32_t const oldest = j < size ? 0 : (j - size) / step + 1; // the first clique that has j
        for (std::int32_t i = oldest * step; i < j; ++i) ind.push_back(i);
        ptr.push_back(static_cast<std::int32_t>(ind.size()));
    }
    return {ptr, ind};
}

// The least degree is expected to last. This is true for chains, and too much for separate cliques.
TEST(MinimumDegree, StopsForTheOperationsThatItExpects) {
    std::vector<std::int32_t> ptr, ind;
    for (bool const are_separate : {false, true}) {
        constexpr std::int32_t size = 12;
        auto const pattern = cliques(50, size, are_separate ? size : size / 2, ptr, ind);
        std::vector<std::int32_t> order(ptr.size() - 1);
        double const flops = minimum_degree(pattern, order)->flops;
        EXPECT_EQ(minimum_degree(pattern, order, 2 * flops).has_value(), !are_separate);
        EXPECT_TRUE(minimum_degree(pattern, order, 4 * flops));
    }
}

TEST(MinimumDegree, OrdersVerticesWithVeryManyNeighborsLast) {
    constexpr std::int32_t n = 2000;
    EdgeSet edges = random_edges(n, n, 5);
    for (std::int32_t v = 0; v + 7 < n; ++v)
        if (v != 1000) edges.insert({{v, 1000}, {1000, v}});
    auto const [order, costs] = order_upper(n, edges);
    ASSERT_TRUE(is_permutation_of_all(order));
    EXPECT_EQ(order.back(), 1000);
}

TEST(MinimumDegree, TreatsAWeightedVertexAsManyEqualOnes) {
    constexpr std::int32_t n = 60;
    auto const edges = random_edges(n, 110, 9);
    Graph graph;
    graph.num_vertices = n;
    SplitMix64 random(4);
    std::vector<std::int32_t> first{0}; // of the copies of each vertex
    for (std::int32_t v = 0; v < n; ++v) {
        for (auto e = edges.lower_bound({v, 0}); e != edges.end() && e->first == v; ++e)
            graph.adj.push_back(e->second);
        graph.ptr.push_back(std::ssize(graph.adj));
        graph.weight.push_back(1 + random.below(4));
        first.push_back(first.back() + static_cast<std::int32_t>(graph.weight.back()));
    }
    EdgeSet expanded;
    for (std::int32_t v = 0; v < n; ++v)
        for (std::int32_t copy = first[v]; copy < first[v + 1]; ++copy) {
            for (std::int32_t other = first[v]; other < copy; ++other)
                expanded.insert({{copy, other}, {other, copy}});
            for (Index const w : graph.neighbors(v))
                for (std::int32_t other = first[w]; other < first[w + 1]; ++other)
                    expanded.insert({copy, other});
        }
    auto const fill_with = [&](std::vector<Index> const& weights) {
        graph.weight = weights;
        std::vector<std::int32_t> order;
        for (Index const v : minimum_degree(graph))
            for (std::int32_t copy = first[v]; copy < first[v + 1]; ++copy) order.push_back(copy);
        EXPECT_TRUE(is_permutation_of_all(order));
        return static_cast<double>(fill_of(first.back(), expanded, order));
    };
    auto const weights = graph.weight;
    double const fill = fill_with(weights);
    auto const whole = order_upper(first.back(), expanded);
    EXPECT_LT(fill, 1.1 * static_cast<double>(fill_of(first.back(), expanded, whole.order)));
    EXPECT_GT(fill_with({}), fill);
    // Weights with a large sum are scaled, and so are weights that are not positive.
    auto large = weights;
    for (Index& weight : large) weight *= 1000;
    EXPECT_LT(fill_with(large), 1.1 * fill);
    auto zero = weights;
    zero[7] = 0;
    EXPECT_LT(fill_with(zero), 1.2 * fill);
}

// With 32-bit and with 64-bit positions, with less free room behind the lists and more, and with and without
// repeated entries.
TEST(QuotientGraph, DoesNotDependOnPositionsAndRepeatedEntries) {
    constexpr std::int32_t n = 3000;
    auto const edges = random_edges(n, 5 * n / 2, 7);
    auto const order_with = [&]<class Position>(Position, int times) {
        std::vector<std::int32_t> length(n, 0), order(n);
        for (auto const& [i, j] : edges) length[i] += times;
        QuotientGraph<Position> graph({}, length);
        for (auto const& [i, j] : edges)
            for (int k = 0; k < times; ++k) graph.add(i, j);
        if (times > 1) graph.drop_repeated();
        graph.run(order, infinity);
        return order;
    };
    auto const order = order_with(std::int32_t{}, 1);
    EXPECT_TRUE(is_permutation_of_all(order));
    EXPECT_EQ(order, order_with(std::int32_t{}, 2));
    EXPECT_EQ(order, order_with(std::int64_t{}, 1));
    EXPECT_EQ(order, order_with(std::int64_t{}, 2));
}

} // namespace
} // namespace espalier
