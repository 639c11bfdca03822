#include "tasks/factor_tasks.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/id_limit.hpp"
#include "tasks/task_pieces.hpp"

namespace espalier {

namespace {

// Builds the tasks of one target after the other; sources come before their targets.
class TaskBuilder {
  public:
    TaskBuilder(BlockStructure const& structure, BranchPartition const& partition, CostModel const& model,
                Distribution const& distribution, RowGroups const& groups, SumOrder order)
        : structure_(structure), partition_(partition), model_(model), distribution_(distribution),
          groups_(groups), ordered_(order == SumOrder::fixed) {
        auto const& processes = distribution.process_of_branch;
        std::int32_t const last =
            processes.empty() ? 0 : *std::max_element(processes.begin(), processes.end());
        sums_.resize(last + 1);
        result_.factor_of_branch.resize(partition.branches.size());
    }

    void add_branch(BranchId u, std::span<Contribution const> contributions) {
        CblkId const target = partition_.branches[u].root;
        std::int32_t const owner = process_of(u);
        for (Contribution const& one : contributions) {
            Sum& sum = sum_of(process_of(one.source), target);
            ++sum.to_come;
        }
        sum_of(owner, target);
        for (Contribution const& one : contributions) {
            std::int32_t const process = process_of(one.source);
            Sum& sum = sum_of(process, target);
            add_updates(one, target, process, process != owner, sum);
            if (--sum.to_come > 0 || process == owner) continue;
            add_messages(one.source, target, process, owner);
            sum = {};
        }
        Sum& own = sum_of(owner, target);
        if (groups_.is_cut(target))
            add_panel_tasks(u, target, owner, own);
        else
            add_factor(u, owner, own);
        own = {};
    }

    FactorTasks finish() {
        connect_tasks(result_.graph, checked_tasks(result_.tasks.size()), edges_);
        result_.graph.home.assign(result_.tasks.size(), 0);
        if (ordered_) result_.graph.resource.clear();
        result_.graph.priority = longest_paths(result_.graph, ExclusiveTasks::chained);
        return std::move(result_);
    }

  private:
    // The contributions of a process to one group of the target at hand.
    struct GroupSum {
        std::vector<TaskId> last; // tasks that complete the sum: the end of its chain, or all of them
        std::int32_t resource = no_resource;
        std::vector<TaskId> updates; // if the target belongs to another process
    };
    struct Sum {
        std::int32_t to_come = 0; // contributions without tasks so far
        std::vector<GroupSum> groups;
        BlockRowsUnion rows; // if the target belongs to another process
    };

    [[nodiscard]] Cblk const& cblk(CblkId k) const { return structure_.cblks[k]; }
    [[nodiscard]] std::int32_t process_of(BranchId u) const {
        auto const& processes = distribution_.process_of_branch;
        return processes.empty() ? 0 : processes[u];
    }
    Sum& sum_of(std::int32_t process, CblkId target) {
        Sum& sum = sums_[process];
        if (sum.groups.empty()) sum.groups.resize(std::max(1, groups_.count(target)));
        return sum;
    }
    // The group of the g-th sum of a target.
    [[nodiscard]] std::int32_t group_name(CblkId target, std::size_t g) const {
        return groups_.is_cut(target) ? static_cast<std::int32_t>(g) : whole_panel;
    }

    TaskId add_task(FactorTask const& task, double cost) {
        auto const id = checked_tasks(result_.tasks.size());
        result_.tasks.push_back(task);
        result_.graph.cost.push_back(cost);
        result_.graph.resource.push_back(no_resource);
        return id;
    }
    void wait_for(std::vector<TaskId> const& before, TaskId task) {
        for (TaskId const earlier : before) edges_.push_back({earlier, task});
    }
    // The task adds to the sum.
    void append(GroupSum& sum, TaskId task) {
        if (ordered_) {
            wait_for(sum.last, task);
            sum.last.assign(1, task);
            return;
        }
        if (sum.resource == no_resource) sum.resource = result_.graph.num_resources++;
        result_.graph.resource[task] = sum.resource;
        sum.last.push_back(task);
    }

    // Sets parts_ to the parts of the contribution by groups of its target.
    void cut(Contribution const& one, CblkId target) {
        if (groups_.is_cut(target))
            return find_update_parts(structure_, groups_, model_, one.first_facing, one.end_facing, target,
                                     parts_);
        BlokId const first = structure_.facing[one.first_facing];
        parts_.assign(1, {one.rows, one.seconds, first, source_of(first).end_blok});
    }
    [[nodiscard]] Cblk const& source_of(BlokId blok) const { return cblk(structure_.owner_of_blok[blok]); }

    void add_updates(Contribution const& one, CblkId target, std::int32_t process, bool is_away, Sum& sum) {
        cut(one, target);
        for (std::size_t g = 0; g < parts_.size(); ++g) {
            UpdatePart const& part = parts_[g];
            if (part.rows == 0) continue;
            TaskId const task = add_task({one.source, target, one.first_facing, one.end_facing,
                                          TaskKind::update, process, process, 0, group_name(target, g)},
                                         part.seconds);
            wait_for_source(one, part, task);
            append(sum.groups[g], task);
            if (is_away) sum.groups[g].updates.push_back(task);
        }
        if (is_away) sum.rows.add(structure_, first_facing_of_root(one), cblk(root_of(one.source)).end_blok);
        // The cost of the branch includes this update, which is now a task of its own.
        CblkId const root = root_of(one.source);
        if (groups_.is_cut(root)) return;
        double& source_cost = result_.graph.cost[result_.factor_of_branch[one.source]];
        source_cost = std::max(0.0, source_cost - one.seconds_in_source);
    }

    // An update reads the rows that face its target and those of its part.
    void wait_for_source(Contribution const& one, UpdatePart const& part, TaskId task) {
        TaskId const source = result_.factor_of_branch[one.source];
        CblkId const root = root_of(one.source);
        if (!groups_.is_cut(root)) {
            edges_.push_back({source, task});
            return;
        }
        BlokId const facing = structure_.facing[one.first_facing];
        std::int32_t const columns = groups_.group_of(root, facing);
        std::int32_t const first = groups_.group_of(root, part.begin);
        std::int32_t const last = groups_.group_of(root, part.end - 1);
        if (columns < first) edges_.push_back({source + columns, task});
        for (std::int32_t g = first; g <= last; ++g) edges_.push_back({source + g, task});
    }

    // The first blok of the source's root that faces the target. The rows that a subtree has from there on
    // are all among those of its root.
    [[nodiscard]] BlokId first_facing_of_root(Contribution const& one) const {
        Offset f = one.end_facing - 1;
        auto const blok_at = [&](Offset at) { return structure_.facing[at]; };
        BlokId const root_begin = cblk(root_of(one.source)).first_blok;
        while (f > one.first_facing && blok_at(f - 1) > root_begin) --f;
        return blok_at(f);
    }
    [[nodiscard]] CblkId root_of(BranchId u) const { return partition_.branches[u].root; }

    // One for each group of rows, so that a group is sent as soon as its sum is complete.
    void add_messages(BranchId last_source, CblkId target, std::int32_t from, std::int32_t to) {
        Sum& sum = sums_[from];
        FanInBlock whole{.target = target, .from = from, .to = to};
        rows_.clear();
        sum.rows.finish(structure_, whole, rows_);
        Sum& receiver = sum_of(to, target);
        for (std::size_t g = 0; g < sum.groups.size(); ++g)
            if (!sum.groups[g].updates.empty())
                add_message(last_source, group_name(target, g), whole, sum.groups[g], receiver.groups[g]);
    }

    void add_message(BranchId last_source, std::int32_t group, FanInBlock block, GroupSum const& sum,
                     GroupSum& receiver) {
        CblkId const target = block.target;
        Index const width = cblk(target).width();
        if (group == whole_panel) {
            result_.fan_in.set_rows(block, rows_, 0, cblk(target).stride, width);
        } else {
            Index const begin = groups_.first_row(structure_, target, group);
            result_.fan_in.set_rows(block, rows_, begin, begin + groups_.rows(structure_, target, group),
                                    width);
        }
        auto const number = static_cast<std::int32_t>(result_.fan_in.blocks.size());
        for (TaskId const update : sum.updates) result_.tasks[update].block = number;
        block.updates = static_cast<std::int32_t>(sum.updates.size());
        double const bytes = distribution_.format.bytes(block.rows, block.rows_below, width);
        // The first update allocates the block. In any order it is most likely the first one here.
        result_.graph.cost[sum.updates.front()] += distribution_.network.first_touch_seconds(bytes);
        TaskId const message = add_task(
            {last_source, target, 0, 0, TaskKind::message, block.from, block.to, bytes, group, number},
            distribution_.network.seconds(bytes));
        wait_for(sum.last, message);
        block.fan_in_task = add_task(
            {last_source, target, 0, 0, TaskKind::fan_in, block.to, block.from, bytes, group, number},
            model_.add(block.rows, width));
        edges_.push_back({message, block.fan_in_task});
        append(receiver, block.fan_in_task);
        result_.fan_in.blocks.push_back(block);
    }

    void add_factor(BranchId u, std::int32_t owner, Sum const& sum) {
        FactorTask const task{u, no_cblk, 0, 0, TaskKind::factor, owner, owner, 0, whole_panel};
        TaskId const id = add_task(task, partition_.branches[u].cost);
        result_.factor_of_branch[u] = id;
        wait_for(sum.groups.front().last, id);
    }

    void add_panel_tasks(BranchId u, CblkId k, std::int32_t owner, Sum const& sum) {
        Index const width = cblk(k).width();
        double const diagonal_seconds = model_.panel(width, 0);
        TaskId const diagonal =
            add_task({u, no_cblk, 0, 0, TaskKind::diagonal, owner, owner, 0, 0}, diagonal_seconds);
        result_.factor_of_branch[u] = diagonal;
        wait_for(sum.groups.front().last, diagonal);
        for (std::int32_t g = 1; g < groups_.count(k); ++g) {
            double const seconds = model_.panel(width, groups_.rows(structure_, k, g)) - diagonal_seconds;
            TaskId const id = add_task({u, no_cblk, 0, 0, TaskKind::solve, owner, owner, 0, g}, seconds);
            edges_.push_back({diagonal, id});
            wait_for(sum.groups[g].last, id);
        }
    }

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    CostModel const& model_;
    Distribution const& distribution_;
    RowGroups const& groups_;
    bool ordered_;
    std::vector<Sum> sums_;         // by process
    std::vector<UpdatePart> parts_; // parts of the current contribution, by group of the target
    std::vector<BlockRows> rows_;   // rows of the current sum
    std::vector<TaskEdge> edges_;
    FactorTasks result_;
};

} // namespace

FactorTasks build_factor_tasks(BlockStructure const& structure, BranchPartition const& partition,
                               Contributions const& contributions, CostModel const& model,
                               Distribution const& distribution, RowGroups const& groups, SumOrder order) {
    TaskBuilder builder(structure, partition, model, distribution, groups, order);
    for (BranchId u = 0; u < static_cast<BranchId>(partition.branches.size()); ++u)
        builder.add_branch(u, contributions.to(u));
    return builder.finish();
}

} // namespace espalier
