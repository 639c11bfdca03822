#include "incomplete/row_groups.hpp"

#include <algorithm>
#include <utility>

#include "coarsen/operators.hpp"
#include "coarsen/pipeline.hpp"
#include "core/run_threads.hpp"

namespace espalier {

namespace {

/// Calls body(t, first, end) on each thread t with its share of 0 .. size.
template <class Body> void share_among_threads(int threads, Index size, Body const& body) {
    run_threads(threads, [&](int t) {
        body(t, static_cast<BlockRow>(size * t / threads), static_cast<BlockRow>(size * (t + 1) / threads));
    });
}

/// Whether row i depends on one of the `reach` rows before.
bool follows(RowPattern const& dependences, BlockRow i, BlockRow reach = 1) {
    Offset const at = dependences.diagonal[i];
    return at > dependences.ptr[i] && dependences.cols[at - 1] >= i - reach;
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

bool are_lines(RowPattern const& dependences, BlockRow reach) {
    auto const examined = sampled_tasks(dependences.num_rows);
    auto const following = std::count_if(examined.begin(), examined.end(),
                                         [&](BlockRow i) { return follows(dependences, i, reach); });
    return 2 * following > std::ssize(examined);
}

std::vector<BlockRow> lines_of_rows(RowPattern const& dependences, BlockRow length, int threads) {
    BlockRow const n = dependences.num_rows;
    LargeVector<std::uint8_t> is_following(n);
    share_among_threads(threads, n, [&](int, BlockRow first, BlockRow end) {
        for (BlockRow i = first; i < end; ++i) is_following[i] = follows(dependences, i);
    });
    std::vector<BlockRow> bounds{0};
    bounds.reserve(n / length + 2);
    for (BlockRow i = 1; i < n; ++i)
        if (is_following[i] == 0 || i - bounds.back() == length) bounds.push_back(i);
    if (n > 0) bounds.push_back(n);
    return bounds;
}

std::vector<BlockRow> trees_of_rows(RowPattern const& dependences, Index largest, int threads) {
    LargeVector<TaskId> lowest(dependences.num_rows);
    share_among_threads(threads, dependences.num_rows, [&](int, BlockRow first, BlockRow end) {
        for (BlockRow i = first; i < end; ++i) lowest[i] = std::min(dependences.cols[dependences.ptr[i]], i);
    });
    auto bounds = first_of_trees(lowest, largest);
    bounds.push_back(dependences.num_rows); // {0} for no rows
    return bounds;
}

GroupedRows connect_groups(RowPattern const& pattern, RowPattern const& dependences,
                           std::vector<BlockRow> row_ptr, int threads) {
    GroupedRows groups;
    groups.row_ptr = std::move(row_ptr);
    groups.group_of.resize(dependences.num_rows);
    auto const num_groups = static_cast<TaskId>(groups.row_ptr.size()) - 1;
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
