#include <gtest/gtest.h>

#include <string>

#include "policies/task_graph.hpp"
#include "runtime/support.hpp"

namespace espalier {
namespace {

TEST(TaskGraph, CheckAcceptsGoodGraphsAndCountsOutsideEvents) {
    EXPECT_EQ(check_graph(TaskGraph{}), 0);
    auto graph = graph_of(50, random_edges(50, 3, 1));
    EXPECT_EQ(check_graph(graph), 0);
    graph.num_predecessors[0] += 2; // two messages
    graph.num_predecessors[9] += 1;
    EXPECT_EQ(check_graph(graph), 3);
    graph.home.assign(50, 0);
    EXPECT_EQ(check_graph(graph), 3);
}

TEST(TaskGraph, CheckNamesWhatIsWrong) {
    auto const broken = [](auto breakage) {
        auto graph = graph_of(3, {{0, 1}, {1, 2}});
        breakage(graph);
        std::string message;
        EXPECT_EQ(status_of([&] { check_graph(graph); }, &message), Status::internal);
        return message;
    };
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.successors[0] = 3; }), "task 0 has a successor 3"));
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.successors[1] = -1; }), "task 1 has a successor -1"));
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.num_predecessors[2] = 0; }), "task 2 is the successor"));
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.num_predecessors[0] = -1; }), "task 0 has a negative"));
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.successor_ptr.pop_back(); }), "successor_ptr has 3"));
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.successor_ptr[3] = 1; }), "does not span"));
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.successor_ptr[1] = 5; }), "decreases at task 1"));
    EXPECT_TRUE(contains(broken([](TaskGraph& g) { g.home.resize(2); }), "home has 2"));
}

TEST(TaskGraph, LongestPathsCountTheTaskItself) {
    // 0 (3) -> 2 (2) -> 4 (1) and 1 (1) -> 3 (2); 1, 2 and 3 exclude each other.
    auto graph = graph_of(5, {{0, 2}, {1, 3}, {2, 4}});
    graph.cost = {3, 1, 2, 2, 1};
    graph.resource = {no_resource, 0, 0, 0, no_resource};
    graph.num_resources = 1;
    EXPECT_EQ(longest_paths(graph), (std::vector<double>{6, 3, 3, 2, 1}));
    EXPECT_EQ(longest_paths(graph, ExclusiveTasks::chained), (std::vector<double>{7, 5, 4, 2, 1}));
}

TEST(TaskGraph, LongestPathsNeedSuccessorsWithHigherNumbers) {
    auto graph = graph_of(2, {{1, 0}});
    graph.cost = {1, 1};
    std::string message;
    EXPECT_EQ(status_of([&] { (void)longest_paths(graph); }, &message), Status::internal);
    EXPECT_TRUE(contains(message, "task 1 has the successor 0"));
}

} // namespace
} // namespace espalier
