#include "incomplete/row_groups.hpp"

#include <algorithm>

#include "core/run_threads.hpp"

namespace espalier {

namespace {

/// Calls body(t, first, end) on each thread t with its share of 0 .. size.
template <class Body> void share_among_threads(int threads, Index size, Body const& body) {
    run_threads(threads, [&](int t) {
        body(t, static_cast<BlockRow>(size * t / threads), static_cast<BlockRow>(size * (t + 1) / threads));
    });
}

std::vector<BlockRow> bounds_of_groups(std::vector<std::uint8_t> const& follows, BlockRow length) {
    auto const n = static_cast<BlockRow>(follows.size());
    std::vector<BlockRow> bounds{0};
    bounds.reserve(n / length + 2);
    for (BlockRow i = 1; i < n; ++i)
        if (follows[i] == 0 || i - bounds.back() == length) bounds.push_back(i);
    if (n > 0) bounds.push_back(n);
    return bounds;
}

/// The edges that begin at the groups of one thread.
struct Edges {
    std::vector<TaskId> successors;
    std::vector<Offset> end; ///< By group.
};

/// Each group stores the last group with an edge to it, so that edges are not repeated.
Edges edges_of(GroupedRows const& groups, RowPattern const& dependences, TaskId first, TaskId end) {
    Edges edges;
    edges.end.reserve(end - first);
    std::vector<TaskId> last_predecessor(groups.row_ptr.size(), no_task);
    for (TaskId group = first; group < end; ++group) {
        last_predecessor[group] = group;
        for (BlockRow i = groups.row_ptr[group]; i < groups.row_ptr[group + 1]; ++i)
            for (BlockRow const j : dependences.upper(i)) {
                TaskId const target = groups.group_of[j];
                if (last_predecessor[target] == group) continue;
                last_predecessor[target] = group;
                edges.successors.push_back(target);
            }
        edges.end.push_back(std::ssize(edges.successors));
    }
    return edges;
}

} // namespace

std::vector<std::uint8_t> rows_that_follow(RowPattern const& dependences, int threads) {
    std::vector<std::uint8_t> follows(dependences.num_rows);
    share_among_threads(threads, dependences.num_rows, [&](int, BlockRow first, BlockRow end) {
        for (BlockRow i = first; i < end; ++i) {
            Offset const at = dependences.diagonal[i];
            follows[i] = at > dependences.ptr[i] && dependences.cols[at - 1] == i - 1;
        }
    });
    return follows;
}

bool are_lines(std::vector<std::uint8_t> const& follows) {
    return 2 * std::count(follows.begin(), follows.end(), 1) > std::ssize(follows);
}

GroupedRows group_rows_in_order(RowPattern const& pattern, RowPattern const& dependences,
                              std::vector<std::uint8_t> const& follows, BlockRow length, int threads) {
    GroupedRows groups;
    groups.row_ptr = bounds_of_groups(follows, length);
    auto const num_groups = static_cast<TaskId>(groups.row_ptr.size()) - 1;
    groups.group_of.resize(dependences.num_rows);
    TaskGraph& graph = groups.graph;
    graph.cost.resize(num_groups);
    share_among_threads(threads, num_groups, [&](int, TaskId first, TaskId end) {
        for (TaskId group = first; group < end; ++group) {
            BlockRow const begin = groups.row_ptr[group], last = groups.row_ptr[group + 1];
            std::fill(groups.group_of.begin() + begin, groups.group_of.begin() + last, group);
            graph.cost[group] = static_cast<double>(pattern.ptr[last] - pattern.ptr[begin]);
        }
    });
    std::vector<Edges> edges(threads);
    share_among_threads(threads, num_groups, [&](int t, TaskId first, TaskId end) {
        edges[t] = edges_of(groups, dependences, first, end);
    });
    graph.successor_ptr.reserve(num_groups + 1);
    graph.num_predecessors.assign(num_groups, 0);
    for (auto const& part : edges) {
        Offset const before = std::ssize(graph.successors);
        for (Offset const end : part.end) graph.successor_ptr.push_back(before + end);
        graph.successors.insert(graph.successors.end(), part.successors.begin(), part.successors.end());
    }
    for (TaskId const target : graph.successors) ++graph.num_predecessors[target];
    return groups;
}

} // namespace espalier
