#include "ordering/ordering.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "core/scalar.hpp"
#include "core/status_of.hpp"
#include "core/timer.hpp"
#include "minimum_degree/balance_weights.hpp"
#include "ordering/compress.hpp"
#include "ordering/graph_properties.hpp"
#include "ordering/graphs.hpp"

namespace espalier {
namespace {

using namespace test;

constexpr OrderingMethod fill_reducing[] = {OrderingMethod::scotch, OrderingMethod::dissection,
                                            OrderingMethod::metis, OrderingMethod::amd};

Ordering order(Graph const& graph, OrderingMethod method, int threads = 1) {
    OrderingOptions options;
    options.method = method;
    options.threads = threads;
    return compute_ordering(graph, options);
}

void expect_permutation(Ordering const& ordering, Index n) {
    ASSERT_EQ(static_cast<Index>(ordering.perm.size()), n);
    ASSERT_EQ(static_cast<Index>(ordering.inverse.size()), n);
    for (Index v = 0; v < n; ++v) { // two maps of n values that undo each other are bijections
        ASSERT_GE(ordering.perm[v], 0);
        ASSERT_LT(ordering.perm[v], n);
        ASSERT_EQ(ordering.inverse[ordering.perm[v]], v);
    }
}

struct Named {
    char const* name;
    Graph graph;
};

std::vector<Named> many_graphs() {
    Graph weighted = grid(20, 20);
    for (Index v = 0; v < 400; ++v) weighted.weight.push_back(1 + v % 6);
    Graph hubs = side_by_side({star(900), star(700), path(2), grid(9, 9), graph_from(5, {})});
    for (Index v = 0; v < hubs.num_vertices; ++v) hubs.weight.push_back(1 + v % 5);
    return {{"empty", Graph{}},
            {"one vertex", graph_from(1, {})},
            {"two vertices", graph_from(2, {})},
            {"one edge", path(2)},
            {"isolated", graph_from(50, {})},
            {"edge among isolated", graph_from(50, {{7, 30}})},
            {"triangle", complete(3)},
            {"complete", complete(60)},
            {"large complete", complete(300)},
            {"star", star(2000)},
            {"path", path(3000)},
            {"grid", grid(60, 50)},
            {"cube", grid(12, 12, 12)},
            {"weighted grid", weighted},
            {"random", random_graph(1500, 4000, 3)},
            {"dense random", random_graph(200, 8000, 4)},
            {"disconnected",
             side_by_side({grid(30, 30), path(500), complete(20), graph_from(9, {}), grid(15, 15, 15)})},
            {"hubs, leaves and weights", hubs},
            {"many pairs", side_by_side(std::vector<Graph>(3000, path(2)))}};
}

TEST(Ordering, EveryMethodGivesAPermutationOfEveryGraph) {
    for (auto const& [name, graph] : many_graphs())
        for (OrderingMethod const method : fill_reducing) {
            SCOPED_TRACE(std::string(name) + " by " + to_string(method));
            expect_permutation(order(graph, method), graph.num_vertices);
        }
}

TEST(Ordering, ASecondCallGivesTheSameOrder) {
    Graph const graph = grid(16, 16, 16);
    for (OrderingMethod const method : fill_reducing) {
        auto const first = order(graph, method).perm;
        order(grid(9, 9), method); // changes the state of the generators of the libraries
        EXPECT_EQ(order(graph, method).perm, first) << to_string(method);
    }
}

TEST(Ordering, DoesNotDependOnTheNumberOfThreads) {
    for (auto const method : {OrderingMethod::scotch, OrderingMethod::dissection})
        for (Graph const& graph :
             {grid(22, 20, 18), side_by_side({grid(70, 60), grid(15, 15, 15), path(900)}),
              quadratic_elements(16, 15, 14)}) {
            auto const one = order(graph, method, 1).perm;
            EXPECT_EQ(order(graph, method, 2).perm, one) << to_string(method);
            EXPECT_EQ(order(graph, method, 4).perm, one) << to_string(method);
        }
}

TEST(Ordering, AStrategyStringIsDeterministic) {
    OrderingOptions options;
    options.scotch_strategy =
        "n{sep=/(vert>120)?m{vert=100,low=h{pass=10},asc=f{bal=0.2}};,ole=f{cmin=0,frat=0},ose=g}";
    Graph const graph = grid(14, 14, 14);
    auto const one = compute_ordering(graph, options);
    expect_permutation(one, graph.num_vertices);
    for (int const threads : {2, 4}) {
        options.threads = threads;
        EXPECT_EQ(compute_ordering(graph, options).perm, one.perm);
    }
    options.deterministic = false;
    expect_permutation(compute_ordering(graph, options), graph.num_vertices);
}

TEST(Ordering, ConcurrentCallsAreIndependent) {
    Graph const graph = grid(14, 14, 14);
    for (OrderingMethod const method : fill_reducing) {
        auto const expected = order(graph, method).perm;
        std::vector<std::vector<Index>> found(4);
        std::vector<std::thread> threads;
        for (auto& result : found) threads.emplace_back([&] { result = order(graph, method, 2).perm; });
        for (auto& thread : threads) thread.join();
        for (auto const& result : found) EXPECT_EQ(result, expected) << to_string(method);
    }
}

TEST(Ordering, NestedDissectionFillsFarLessThanTheNaturalOrder) {
    Graph const graph = grid(14, 14, 14);
    auto const natural = fill_by_elimination(graph, order(graph, OrderingMethod::natural).perm);
    for (OrderingMethod const method : fill_reducing)
        EXPECT_LT(2.5 * static_cast<double>(fill_by_elimination(graph, order(graph, method).perm)),
                  static_cast<double>(natural))
            << to_string(method);
}

// On single graphs, either may be better by a few percent.
TEST(Ordering, DissectionsWithoutDominatedVerticesAreBetterThanThoseOfMetis) {
    double logarithms = 0;
    for (auto const [a, b, c] : {std::array{10, 9, 8}, {9, 9, 9}, {12, 9, 8}, {20, 9, 5}, {11, 7, 9}}) {
        Graph const graph = quadratic_elements(a, b, c);
        auto const fill = [&](OrderingMethod method) {
            return static_cast<double>(fill_by_elimination(graph, order(graph, method).perm));
        };
        logarithms += std::log(fill(OrderingMethod::dissection) / fill(OrderingMethod::metis));
    }
    EXPECT_LT(logarithms, 0);
}

// A cut of the undominated vertices takes thick columns as readily as others. The refinement moves it away.
TEST(Ordering, ADissectionRefinesSeparatorsWithDominatedVertices) {
    Graph const graph = grid_with_thick_columns(80, 12, 10);
    auto const fill = [&](OrderingMethod method) {
        return static_cast<double>(fill_by_elimination(graph, order(graph, method).perm));
    };
    EXPECT_LT(fill(OrderingMethod::dissection), 1.2 * fill(OrderingMethod::metis));
}

TEST(Ordering, DissectionsAreAtLeastAsGoodAsMetisOnAGrid) {
    for (Graph const& graph : {grid(18, 18, 18), grid(60, 60)}) {
        auto const fill = [&](OrderingMethod method) {
            return static_cast<double>(fill_by_elimination(graph, order(graph, method).perm));
        };
        for (auto const method : {OrderingMethod::scotch, OrderingMethod::dissection})
            EXPECT_LT(fill(method), 1.05 * fill(OrderingMethod::metis)) << to_string(method);
    }
}

std::atomic<int> signals_handled = 0; // lock-free, so signal handlers may use it

TEST(Ordering, MetisLeavesTheSignalHandlersOfTheProgramInPlace) {
    struct sigaction action = {}, before, abort_before, after;
    action.sa_handler = [](int) { ++signals_handled; };
    sigaction(SIGTERM, &action, &before);
    sigaction(SIGABRT, &action, &abort_before);
    Graph const graph = grid(40, 40, 40);
    std::atomic<bool> is_ordered = false;
    std::thread ordering([&] {
        order(graph, OrderingMethod::metis);
        is_ordered = true;
    });
    int sent = 0;
    for (; !is_ordered; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
        pthread_kill(sent % 4 == 0 ? pthread_self() : ordering.native_handle(), SIGTERM);
        pthread_kill(pthread_self(), SIGABRT); // ends the ordering only on its own thread
        sent += 2;
    }
    ordering.join();
    sigaction(SIGTERM, &before, &after);
    EXPECT_EQ(after.sa_handler, action.sa_handler);
    EXPECT_GT(signals_handled, 4);
    sigaction(SIGABRT, &abort_before, &after);
    EXPECT_EQ(after.sa_handler, action.sa_handler);
}

TEST(Ordering, TreesAreOrderedWithLittleFill) {
    for (OrderingMethod const method : fill_reducing) {
        EXPECT_EQ(fill_by_elimination(star(1000), order(star(1000), method).perm), 999U) << to_string(method);
        EXPECT_LT(fill_by_elimination(path(1000), order(path(1000), method).perm), 2000U)
            << to_string(method);
    }
}

TEST(Ordering, AnyWeightsAreAccepted) {
    Graph graph = grid(16, 16, 16);
    auto const set = [&](std::size_t step, Index weight) {
        graph.weight.assign(4096, 1);
        for (std::size_t v = 0; v < 4096; v += step) graph.weight[v] = weight;
    };
    set(3, std::numeric_limits<Index>::max() / 4000);
    graph.weight[5] = 0;
    for (OrderingMethod const method : fill_reducing) expect_permutation(order(graph, method), 4096);
    set(50, 100000); // a dense block, compressed, outweighs all others: METIS would not return
    for (OrderingMethod const method : fill_reducing) expect_permutation(order(graph, method), 4096);
}

TEST(Ordering, BalanceWeightsKeepsProportionsWithinItsBounds) {
    Graph graph = path(5);
    Index const large = Index(1) << 60;
    graph.weight = {large, 2 * large, 3, 0, large};
    EXPECT_EQ(balance_weights(graph, 1000000), (std::vector<Index>{10, 20, 1, 1, 10}));
    graph.weight = {2, 1, 2, 7, 2};
    EXPECT_EQ(balance_weights(graph, 1000000), graph.weight);
    graph.weight = {5, 5, 5, 5, 5};
    EXPECT_TRUE(balance_weights(graph, 1000000).empty());
    graph.weight = {9, 3, 3, 3, 3};
    EXPECT_EQ(balance_weights(graph, 13), (std::vector<Index>{3, 1, 1, 1, 1}));
    Graph heavy = path(1000);
    heavy.weight.assign(1000, 1);
    heavy.weight[500] = 1000000;
    EXPECT_EQ(balance_weights(heavy, 1000000)[500], 64);
}

TEST(Ordering, IsFastForLargeStarsAndArrows) { // quadratic time would take minutes
    Graph const hub = star(100000);
    Edges edges;
    for (Index v = 0; v < 99990; ++v) {
        edges.push_back({v, v + 1});
        for (Index hub_vertex = 99991; hub_vertex < 99994; ++hub_vertex) edges.push_back({v, hub_vertex});
    }
    Graph const arrow = graph_from(100000, edges);
    for (OrderingMethod const method : fill_reducing) {
        Timer timer;
        expect_permutation(order(hub, method), 100000);
        EXPECT_LT(timer.seconds(), 10) << "star by " << to_string(method);
        timer.restart();
        auto const ordering = order(arrow, method);
        EXPECT_LT(timer.seconds(), 20) << "arrow by " << to_string(method);
        for (Index hub_vertex = 99991; hub_vertex < 99994; ++hub_vertex)
            EXPECT_GE(ordering.perm[hub_vertex], 99997);
    }
}

Status status(Graph const& graph, OrderingOptions const& options) {
    return status_of([&] { compute_ordering(graph, options); });
}

TEST(Ordering, RowOrderingsRejectACompressedGraph) {
    Graph graph = grid(3, 3);
    graph.weight.assign(9, 1);
    OrderingOptions options;
    options.method = OrderingMethod::natural;
    EXPECT_EQ(status(graph, options), Status::ok);
    graph.weight[4] = 3;
    EXPECT_EQ(status(graph, options), Status::usage);
    options.method = OrderingMethod::user;
    EXPECT_EQ(status(graph, options), Status::usage);
}

TEST(Ordering, ABadStrategyStringIsAUsageError) {
    OrderingOptions options;
    options.method = OrderingMethod::scotch;
    options.scotch_strategy = "this is not one";
    EXPECT_EQ(status(grid(5, 5), options), Status::usage);
}

TEST(Ordering, AGraphWithInconsistentArraysIsRejected) {
    Graph graph = grid(3, 3);
    graph.ptr.pop_back();
    EXPECT_EQ(status(graph, {}), Status::internal);
    graph = grid(3, 3);
    graph.weight.assign(8, 1);
    EXPECT_EQ(status(graph, {}), Status::internal);
}

TEST(HasHubs, ComparesTheLargestDegreeWithTheAverage) {
    // A star of n vertices has n - 1 edges, so its center has n / 2 times as many neighbors as the average.
    EXPECT_TRUE(has_hubs(star(21), 10));
    EXPECT_FALSE(has_hubs(star(20), 10));
    EXPECT_FALSE(has_hubs(star(21), 15));
    EXPECT_FALSE(has_hubs(grid(9, 8), 10));
    EXPECT_FALSE(has_hubs(Graph{}, 10));
}

TEST(HasLongPaths, HoldsForGraphsInThePlane) {
    for (Graph const& graph : {path(100), path(2), graph_from(1, {}), graph_from(50, {}), grid(90, 80),
                               grid(4000, 2), side_by_side({grid(6, 6), complete(4)})})
        EXPECT_TRUE(has_long_paths(graph));
    std::vector<std::pair<Index, Index>> edges; // of random graphs with four neighbors on average
    SplitMix64 random(3);
    for (Index k = 0; k < 8000; ++k) edges.emplace_back(random.below(4000), random.below(4000));
    std::erase_if(edges, [](auto const& edge) { return edge.first == edge.second; });
    for (Graph const& graph : {Graph{}, star(900), complete(60), graph_from(4000, edges)})
        EXPECT_FALSE(has_long_paths(graph));
}

TEST(FullBandFlops, IsThatOfABandWithAsManyNeighbors) {
    EXPECT_EQ(full_band_flops(Graph{}), 0);
    EXPECT_EQ(full_band_flops(graph_from(7, {})), 7);
    EXPECT_NEAR(full_band_flops(path(10'000)), 4e4, 10);
    EXPECT_NEAR(full_band_flops(complete(21)), 21 * 11 * 11, 1e-9);
    Graph merged = complete(7); // the same graph, with three rows at each vertex
    merged.weight.assign(7, 3);
    EXPECT_NEAR(full_band_flops(merged), 21 * 11 * 11, 1e-9);
}

TEST(EstimatedDissectionWork, IsThatOfAMesh) {
    double const work = estimated_dissection_work(grid(60, 60));
    EXPECT_GT(work, 12 * std::pow(50, 3));
    EXPECT_LT(work, 12 * std::pow(120, 3));
    EXPECT_EQ(estimated_dissection_work(complete(300)), infinity);
}

} // namespace
} // namespace espalier
