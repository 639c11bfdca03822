

#include "runtime/support.hpp"

namespace espalier {
namespace {

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
    EXPECT_TRUE(
        throws_error(Status::internal, "task 1 has the successor 0", [&] { (void)longest_paths(graph); }));
}

} // namespace
} // namespace espalier
