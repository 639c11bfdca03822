#include "tasks/solve_tasks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/id_limit.hpp"

namespace espalier {

namespace {

class SolveTaskBuilder {
  public:
    SolveTaskBuilder(BlockStructure const& structure, BranchPartition const& partition,
                     CostModel const& model, Distribution const& distribution, SweepDivision const& division)
        : structure_(structure), partition_(partition), model_(model), distribution_(distribution),
          division_(division), num_branches_(static_cast<BranchId>(partition.branches.size())) {}

    SolveTasks run() {
        result_.forward_of_branch.reserve(num_branches_);
        result_.backward_of_branch.assign(num_branches_, no_task);
        find_groups();
        for (BranchId u = 0; u < num_branches_; ++u) add_forward(u);
        for (BranchId u = num_branches_; u-- > 0;) add_backward(u);
        for (BranchId u = 0; u < num_branches_; ++u) connect_to_parent(u);
        connect_backward();
        connect_tasks(result_.graph, checked_tasks(result_.tasks.size()), edges_);
        result_.graph.priority = longest_paths(result_.graph);
        result_.graph.home.assign(result_.tasks.size(), 0);
        return std::move(result_);
    }

  private:
    // A branch of another process that has rows in the branch at hand.
    struct Source {
        std::int32_t process;
        BranchId branch;
        Index rows;
    };

    [[nodiscard]] std::int32_t process_of(BranchId u) const {
        auto const& processes = distribution_.process_of_branch;
        return processes.empty() ? 0 : processes[u];
    }
    [[nodiscard]] Branch const& branch(BranchId u) const { return partition_.branches[u]; }

    TaskId add_task(SolveTask const& task, double seconds) {
        auto const id = checked_tasks(result_.tasks.size());
        result_.tasks.push_back(task);
        result_.graph.cost.push_back(seconds);
        return id;
    }
    // The bloks of a task, and its share of the work in one half.
    struct RowsOfTask {
        std::int32_t first_blok, end_blok;
        double share;
    };

    // The rows of each branch: those of its main task, then those of its groups.
    void find_groups() {
        for (BranchId u = 0; u < num_branches_; ++u) {
            if (branch(u).first == branch(u).root && !structure_.is_kept(branch(u).root))
                divide_rows(structure_.cblk(branch(u).root));
            else
                rows_.push_back({0, 0, 1});
            rows_ptr_.push_back(std::ssize(rows_));
        }
    }

    // The main task keeps the bloks that face the parent, which waits for it. Each group has at least as many
    // rows as the panel has columns, because its part of the outbox holds a vector of that length on the way
    // down.
    void divide_rows(Cblk const& c) {
        auto const bloks = structure_.bloks_below(c);
        auto const num_bloks = static_cast<std::int32_t>(bloks.size());
        std::int32_t kept = 0;
        Index left = c.rows_below();
        while (kept < num_bloks && bloks[kept].facing_cblk == c.parent) left -= bloks[kept++].height();
        Index const fewest = std::max({c.width(), division_.fewest_entries / c.width(),
                                       division_.most_groups > 0 ? left / division_.most_groups : left + 1});
        if (left < fewest) kept = num_bloks;
        double const entries = static_cast<double>(c.stride) - 0.5 * static_cast<double>(c.width());
        auto const main = std::ssize(rows_);
        rows_.push_back({0, kept, 1});
        for (std::int32_t first = kept, end = first; first < num_bloks; first = end) {
            Index rows = 0;
            while (end < num_bloks && (rows < fewest || left - rows < fewest)) rows += bloks[end++].height();
            left -= rows;
            double const share = static_cast<double>(rows) / entries;
            rows_.push_back({first, end, share});
            rows_[main].share -= share;
        }
    }
    [[nodiscard]] std::span<RowsOfTask const> groups_of(BranchId u) const {
        return std::span(rows_).subspan(rows_ptr_[u] + 1, rows_ptr_[u + 1] - rows_ptr_[u] - 1);
    }

    TaskId add_at_owner(SolveTaskKind kind, BranchId u, RowsOfTask const& rows) {
        SolveTask task{kind, u, process_of(u), process_of(u)};
        task.first_blok = rows.first_blok;
        task.end_blok = rows.end_blok;
        task.share = rows.share;
        return add_task(task, rows.share * seconds(u));
    }
    // The branch that is eliminated first among those that a group of rows faces.
    [[nodiscard]] BranchId first_faced(BranchId u, RowsOfTask const& rows) const {
        auto const bloks = structure_.bloks_below(structure_.cblk(branch(u).root));
        return partition_.branch_of_cblk[bloks[rows.first_blok].facing_cblk];
    }
    // Calls visit(task) for the tasks of a branch that contribute to others, or that read the solution there.
    template <class Visit>
    void for_each_task(TaskId main, BranchId u, int direction, Visit const& visit) const {
        for (TaskId g = 0; g <= std::ssize(groups_of(u)); ++g) visit(main + direction * g);
    }

    TaskId add_message(BranchId u, std::int32_t from, std::int32_t to) {
        double const bytes =
            static_cast<double>(structure_.cblk(branch(u).root).width()) * distribution_.format.scalar_bytes;
        return add_task({SolveTaskKind::message, u, from, to, bytes}, distribution_.network.seconds(bytes));
    }
    void connect(TaskId from, TaskId to) { edges_.push_back({from, to}); }

    // Appends the sources of u by processes and branches. Only the root of a branch sends rows to others.
    void find_sources(BranchId u) {
        auto const first = std::ssize(sources_);
        if (!distribution_.process_of_branch.empty() && branch(u).first == branch(u).root)
            for (BlokId const b : structure_.bloks_facing(branch(u).root)) {
                CblkId const owner = structure_.owner_of_blok[b];
                if (structure_.is_kept(owner)) break;
                BranchId const source = partition_.branch_of_cblk[owner];
                if (process_of(source) == process_of(u)) continue;
                if (std::ssize(sources_) == first || sources_.back().branch != source)
                    sources_.push_back({process_of(source), source, 0});
                if (owner == branch(source).root) sources_.back().rows += structure_.blok(b).height();
            }
        std::sort(sources_.begin() + first, sources_.end(), [](Source const& a, Source const& b) {
            return std::tie(a.process, a.branch) < std::tie(b.process, b.branch);
        });
        sources_ptr_.push_back(std::ssize(sources_));
    }

    // Calls visit(sources) for each other process that has branches with rows in u.
    template <class Visit> void for_each_process(BranchId u, Visit const& visit) const {
        for (Offset at = sources_ptr_[u], end = at; at < sources_ptr_[u + 1]; at = end) {
            while (end < sources_ptr_[u + 1] && sources_[end].process == sources_[at].process) ++end;
            visit(std::span(sources_).subspan(at, end - at));
        }
    }

    void add_forward(BranchId u) {
        find_sources(u);
        std::vector<TaskId> messages;
        for_each_process(u, [&](std::span<Source const> sources) {
            std::int32_t const process = sources.front().process;
            Index rows = 0;
            for (Source const& source : sources) rows += source.rows;
            TaskId const sum = add_task({SolveTaskKind::send_sum, u, process, process}, model_.add(rows, 1));
            for (Source const& source : sources)
                for_each_task(forward(source.branch), source.branch, 1,
                              [&](TaskId task) { connect(task, sum); });
            messages.push_back(add_message(u, process, process_of(u)));
            connect(sum, messages.back());
            result_.contributors.processes.push_back(process);
        });
        result_.contributors.ptr.push_back(std::ssize(result_.contributors.processes));
        TaskId const task = add_at_owner(SolveTaskKind::forward, u, rows_[rows_ptr_[u]]);
        result_.forward_of_branch.push_back(task);
        for (TaskId const message : messages) connect(message, task);
        for (RowsOfTask const& rows : groups_of(u))
            connect(task, add_at_owner(SolveTaskKind::forward_rows, u, rows));
    }

    void add_backward(BranchId u) {
        std::vector<TaskId> groups;
        auto const rows_of_groups = groups_of(u);
        for (auto rows = rows_of_groups.rbegin(); rows != rows_of_groups.rend(); ++rows)
            groups.push_back(add_at_owner(SolveTaskKind::backward_rows, u, *rows));
        TaskId const task = add_at_owner(SolveTaskKind::backward, u, rows_[rows_ptr_[u]]);
        result_.backward_of_branch[u] = task;
        for (TaskId const group : groups) connect(group, task);
        for_each_process(u, [&](std::span<Source const> sources) {
            std::int32_t const process = sources.front().process;
            TaskId const message = add_message(u, process_of(u), process);
            TaskId const received = add_task({SolveTaskKind::receive_solution, u, process, process},
                                             model_.add(structure_.cblk(branch(u).root).width(), 1));
            connect(task, message);
            connect(message, received);
            for (Source const& source : sources) solutions_.push_back({received, source.branch});
        });
    }

    void connect_backward() {
        for (Solution const& solution : solutions_)
            for_each_task(backward(solution.source), solution.source, -1,
                          [&](TaskId task) { connect(solution.received, task); });
    }

    // Rows that face a branch of another process are in a sum for it, and wait for its solution.
    void connect_groups(BranchId u) {
        TaskId g = 0;
        for (RowsOfTask const& rows : groups_of(u)) {
            BranchId const faced = first_faced(u, rows);
            ++g;
            if (process_of(faced) != process_of(u)) continue;
            connect(forward(u) + g, forward(faced));
            connect(backward(faced), backward(u) - g);
        }
    }

    void connect_to_parent(BranchId u) {
        connect_groups(u);
        CblkId const parent = structure_.cblk(branch(u).root).parent;
        BranchId const above = parent == no_cblk ? u : partition_.branch_of_cblk[parent];
        if (above == u || process_of(above) != process_of(u)) {
            connect(forward(u),
                    backward(u)); // in the latter case implied by messages, but known here at once
            return;
        }
        connect(forward(u), forward(above));
        connect(backward(above), backward(u));
    }

    [[nodiscard]] TaskId forward(BranchId u) const { return result_.forward_of_branch[u]; }
    [[nodiscard]] TaskId backward(BranchId u) const { return result_.backward_of_branch[u]; }

    // The predicted time of a branch in one half of the solve. Kept cblks are not eliminated.
    [[nodiscard]] double seconds(BranchId u) const {
        double sum = 0;
        if (structure_.is_kept(branch(u).first)) return sum;
        for (CblkId k = branch(u).first; k <= branch(u).root; ++k) sum += model_.sweep(structure_.cblk(k));
        return sum;
    }

    struct Solution {
        TaskId received;
        BranchId source; // needs it
    };

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    CostModel const& model_;
    Distribution const& distribution_;
    SweepDivision division_;
    BranchId num_branches_;
    std::vector<Offset> rows_ptr_{0};
    std::vector<RowsOfTask> rows_; // by branch
    std::vector<Offset> sources_ptr_{0};
    std::vector<Source> sources_; // by branch, process and source
    std::vector<Solution> solutions_;
    std::vector<TaskEdge> edges_;
    SolveTasks result_;
};

} // namespace

SolveTasks build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition,
                             CostModel const& model, Distribution const& distribution,
                             SweepDivision const& division) {
    return SolveTaskBuilder(structure, partition, model, distribution, division).run();
}

} // namespace espalier
