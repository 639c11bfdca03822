#include "schedule/factor_tasks.hpp"

#include <algorithm>
#include <span>
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

// Builds the tasks of one target after the other; sources come before their targets.
class TaskBuilder {
  public:
    TaskBuilder(BlockStructure const& structure, BranchPartition const& partition, CostModel const& model,
                Distribution const& distribution)
        : structure_(structure), partition_(partition), model_(model), distribution_(distribution) {
        auto const& processes = distribution.process_of_branch;
        std::int32_t const last =
            processes.empty() ? 0 : *std::max_element(processes.begin(), processes.end());
        sums_.resize(static_cast<std::size_t>(last) + 1);
        result_.factor_of_branch.resize(partition.branches.size());
    }

    void add_branch(BranchId u, std::span<Contribution const> contributions) {
        Branch const& branch = partition_.branches[static_cast<std::size_t>(u)];
        std::int32_t const owner = process_of(u);
        for (Contribution const& one : contributions) {
            Sum& sum = sums_[static_cast<std::size_t>(process_of(one.source))];
            ++sum.to_come;
            sum.rows += one.rows;
        }
        for (Contribution const& one : contributions) {
            std::int32_t const process = process_of(one.source);
            Sum& sum = sums_[static_cast<std::size_t>(process)];
            add_update(one, branch.root, process, sum);
            if (--sum.to_come > 0 || process == owner) continue;
            add_message(one.source, branch.root, process, owner);
            sum = {};
        }
        Sum& own = sums_[static_cast<std::size_t>(owner)];
        FactorTask const task{u, no_cblk, 0, 0, TaskKind::factor, owner, owner, 0};
        result_.factor_of_branch[static_cast<std::size_t>(u)] = add_task(task, branch.cost, own);
        own = {};
    }

    FactorTasks finish() {
        set_edges(result_.graph, static_cast<TaskId>(result_.tasks.size()), edges_);
        result_.graph.home.assign(result_.tasks.size(), 0);
        set_critical_path_priorities(result_.graph);
        return std::move(result_);
    }

  private:
    // What a process has to give to the target at hand.
    struct Sum {
        std::int32_t to_come = 0;
        Index rows = 0;
        TaskId last = no_task; // of its chain
    };

    [[nodiscard]] std::int32_t process_of(BranchId u) const {
        auto const& processes = distribution_.process_of_branch;
        return processes.empty() ? 0 : processes[static_cast<std::size_t>(u)];
    }

    TaskId add_task(FactorTask const& task, double cost, Sum& chain) {
        auto const id = static_cast<TaskId>(result_.tasks.size());
        result_.tasks.push_back(task);
        result_.graph.cost.push_back(cost);
        if (chain.last != no_task) edges_.emplace_back(chain.last, id);
        return chain.last = id;
    }

    void add_update(Contribution const& one, CblkId target, std::int32_t process, Sum& sum) {
        auto const source = result_.factor_of_branch[static_cast<std::size_t>(one.source)];
        edges_.emplace_back(source, static_cast<TaskId>(result_.tasks.size()));
        add_task(
            {one.source, target, one.first_facing, one.end_facing, TaskKind::update, process, process, 0},
            one.seconds, sum);
        // The source's own cost counted this update; it is another task's now.
        double& source_cost = result_.graph.cost[static_cast<std::size_t>(source)];
        source_cost = std::max(0.0, source_cost - one.seconds);
    }

    void add_message(BranchId last_source, CblkId target, std::int32_t from, std::int32_t to) {
        Sum& sum = sums_[static_cast<std::size_t>(from)];
        Cblk const& cblk = structure_.cblks[static_cast<std::size_t>(target)];
        Index const rows = fan_in_rows(cblk, sum.rows);
        double const bytes = distribution_.format.bytes(rows, cblk.width());
        TaskId const message = add_task({last_source, target, 0, 0, TaskKind::message, from, to, bytes},
                                        distribution_.network.seconds(bytes), sum);
        edges_.emplace_back(message, message + 1);
        add_task({last_source, target, 0, 0, TaskKind::fan_in, to, from, bytes},
                 fan_in_seconds(model_, cblk, rows), sums_[static_cast<std::size_t>(to)]);
    }

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    CostModel const& model_;
    Distribution const& distribution_;
    std::vector<Sum> sums_; // by process
    std::vector<Edge> edges_;
    FactorTasks result_;
};

} // namespace

double PanelFormat::bytes(Index rows, Index width) const {
    Index const upper = has_upper ? std::max<Index>(0, rows - width) : 0;
    return static_cast<double>(rows + upper) * static_cast<double>(width) * scalar_bytes;
}

Index fan_in_rows(Cblk const& cblk, Index rows) {
    return std::min(cblk.stride, rows);
}

double fan_in_seconds(CostModel const& model, Cblk const& cblk, Index rows) {
    return model.add(fan_in_rows(cblk, rows), cblk.width());
}

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
                               Contributions const& contributions, CostModel const& model,
                               Distribution const& distribution) {
    TaskBuilder builder(structure, partition, model, distribution);
    for (BranchId u = 0; u < static_cast<BranchId>(partition.branches.size()); ++u)
        builder.add_branch(u, contributions.to(u));
    return builder.finish();
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
