#include "schedule/factor_tasks.hpp"

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

using Edge = std::pair<TaskId, TaskId>;

// Turns an edge list into the successor lists and predecessor counts of `graph`.
void set_edges(TaskGraph& graph, TaskId num_tasks, std::vector<Edge> const& edges) {
    graph.num_predecessors.assign(static_cast<std::size_t>(num_tasks), 0);
    graph.successor_ptr.assign(static_cast<std::size_t>(num_tasks) + 1, 0);
    for (auto const& [from, to] : edges) {
        ++graph.num_predecessors[static_cast<std::size_t>(to)];
        ++graph.successor_ptr[static_cast<std::size_t>(from) + 1];
    }
    for (std::size_t t = 0; t < static_cast<std::size_t>(num_tasks); ++t)
        graph.successor_ptr[t + 1] += graph.successor_ptr[t];
    graph.successors.resize(edges.size());
    std::vector<Offset> next(graph.successor_ptr.begin(), graph.successor_ptr.end() - 1);
    for (auto const& [from, to] : edges)
        graph.successors[static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++)] = to;
}

// Where the bloks that update cblk j end among those that face it: kept cblks come last and update nobody.
Offset end_of_updates(BlockStructure const& structure, CblkId j) {
    Offset end = structure.facing_ptr[static_cast<std::size_t>(j) + 1];
    auto const owner = [&](Offset f) {
        return structure
            .owner_of_blok[static_cast<std::size_t>(structure.facing[static_cast<std::size_t>(f)])];
    };
    while (end > structure.facing_ptr[static_cast<std::size_t>(j)] &&
           owner(end - 1) >= structure.first_kept_cblk)
        --end;
    return end;
}

double update_cost(BlockStructure const& structure, CostModel const& model, FactorTask const& task) {
    double cost = 0;
    for (Offset f = task.first_facing; f < task.end_facing; ++f) {
        auto const b = static_cast<std::size_t>(structure.facing[static_cast<std::size_t>(f)]);
        Cblk const& owner = structure.cblks[static_cast<std::size_t>(structure.owner_of_blok[b])];
        Blok const& blok = structure.bloks[b];
        cost += model.update(owner.stride - blok.panel_row, blok.height(), owner.width());
    }
    return cost;
}

} // namespace

void set_critical_path_priorities(TaskGraph& graph) {
    auto const n = static_cast<std::size_t>(graph.num_tasks());
    std::vector<std::int32_t> waiting(graph.num_predecessors);
    std::vector<TaskId> order; // topological
    order.reserve(n);
    for (std::size_t t = 0; t < n; ++t)
        if (waiting[t] == 0) order.push_back(static_cast<TaskId>(t));
    for (std::size_t i = 0; i < order.size(); ++i) {
        auto const t = static_cast<std::size_t>(order[i]);
        for (Offset s = graph.successor_ptr[t]; s < graph.successor_ptr[t + 1]; ++s) {
            TaskId const next = graph.successors[static_cast<std::size_t>(s)];
            if (--waiting[static_cast<std::size_t>(next)] == 0) order.push_back(next);
        }
    }
    graph.priority.assign(n, 0.0);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        auto const t = static_cast<std::size_t>(*it);
        double longest = 0;
        for (Offset s = graph.successor_ptr[t]; s < graph.successor_ptr[t + 1]; ++s)
            longest = std::max(
                longest,
                graph.priority[static_cast<std::size_t>(graph.successors[static_cast<std::size_t>(s)])]);
        graph.priority[t] = graph.cost[t] + longest;
    }
}

FactorTasks build_factor_tasks(BlockStructure const& structure, BranchPartition const& partition,
                               CostModel const& model) {
    FactorTasks result;
    auto& tasks = result.tasks;
    auto& cost = result.graph.cost;
    std::vector<Edge> edges;
    result.factor_of_branch.resize(partition.branches.size());

    // In ascending order of branches every source of an update has its factor task already.
    for (BranchId u = 0; u < static_cast<BranchId>(partition.branches.size()); ++u) {
        Branch const& branch = partition.branches[static_cast<std::size_t>(u)];
        TaskId last_update = no_task;
        // Only a branch of one cblk can be updated from outside: the others are whole subtrees.
        CblkId const j = branch.root;
        bool const single = branch.first == branch.root;
        Offset f = single ? structure.facing_ptr[static_cast<std::size_t>(j)] : 0;
        Offset const end = single ? end_of_updates(structure, j) : 0;
        while (f < end) {
            auto branch_at = [&](Offset position) {
                BlokId const b = structure.facing[static_cast<std::size_t>(position)];
                CblkId const owner = structure.owner_of_blok[static_cast<std::size_t>(b)];
                return partition.branch_of_cblk[static_cast<std::size_t>(owner)];
            };
            FactorTask task{branch_at(f), j, f, f};
            while (task.end_facing < end && branch_at(task.end_facing) == task.source) ++task.end_facing;
            f = task.end_facing;
            auto const id = static_cast<TaskId>(tasks.size());
            edges.emplace_back(result.factor_of_branch[static_cast<std::size_t>(task.source)], id);
            if (last_update != no_task) edges.emplace_back(last_update, id);
            last_update = id;
            cost.push_back(update_cost(structure, model, task));
            // The source's own cost counted this update; it is another task's now.
            auto const source_task =
                static_cast<std::size_t>(result.factor_of_branch[static_cast<std::size_t>(task.source)]);
            cost[source_task] = std::max(0.0, cost[source_task] - cost.back());
            tasks.push_back(task);
        }
        auto const id = static_cast<TaskId>(tasks.size());
        result.factor_of_branch[static_cast<std::size_t>(u)] = id;
        if (last_update != no_task) edges.emplace_back(last_update, id);
        tasks.push_back(FactorTask{u, no_cblk, 0, 0});
        cost.push_back(branch.cost);
    }
    set_edges(result.graph, static_cast<TaskId>(tasks.size()), edges);
    result.graph.home.assign(tasks.size(), 0);
    set_critical_path_priorities(result.graph);
    return result;
}

TaskGraph build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition) {
    auto const count = static_cast<TaskId>(partition.branches.size());
    TaskGraph graph;
    std::vector<Edge> edges;
    graph.cost.resize(2 * static_cast<std::size_t>(count));
    for (BranchId u = 0; u < count; ++u) {
        Branch const& branch = partition.branches[static_cast<std::size_t>(u)];
        double entries = 0;
        for (CblkId k = branch.first; k <= branch.root; ++k) {
            Cblk const& cblk = structure.cblks[static_cast<std::size_t>(k)];
            entries += static_cast<double>(cblk.stride) * static_cast<double>(cblk.width());
        }
        graph.cost[static_cast<std::size_t>(u)] = graph.cost[static_cast<std::size_t>(count + u)] = entries;
        CblkId const parent = structure.cblks[static_cast<std::size_t>(branch.root)].parent;
        if (parent == no_cblk) {
            edges.emplace_back(u, count + u);
            continue;
        }
        BranchId const above = partition.branch_of_cblk[static_cast<std::size_t>(parent)];
        edges.emplace_back(u, above);                 // forward: children first
        edges.emplace_back(count + above, count + u); // backward: parents first
    }
    set_edges(graph, 2 * count, edges);
    graph.home.assign(graph.cost.size(), 0);
    set_critical_path_priorities(graph);
    return graph;
}

} // namespace espalier
