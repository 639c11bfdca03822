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

} // namespace
} // namespace espalier
