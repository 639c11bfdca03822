#include "tasks/solve_tasks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.hpp"

namespace espalier {

namespace {

class SolveTaskBuilder {
  public:
    SolveTaskBuilder(BlockStructure const& structure, BranchPartition const& partition,
                     CostModel const& model, Distribution const& distribution)
        : structure_(structure), partition_(partition), model_(model), distribution_(distribution),
          num_branches_(static_cast<BranchId>(partition.branches.size())) {}

    SolveTasks run() {
        result_.forward_of_branch.reserve(num_branches_);
        result_.backward_of_branch.assign(num_branches_, no_task);
        for (BranchId u = 0; u < num_branches_; ++u) add_forward(u);
        for (BranchId u = num_branches_; u-- > 0;) add_backward(u);
        for (BranchId u = 0; u < num_branches_; ++u) connect_to_parent(u);
        connect_backward();
        connect_tasks(result_.graph, checked_cast<TaskId>(result_.tasks.size(), "number of tasks"), edges_);
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
        auto const id = checked_cast<TaskId>(result_.tasks.size(), "number of tasks");
        result_.tasks.push_back(task);
        result_.graph.cost.push_back(seconds);
        return id;
    }
    TaskId add_message(BranchId u, std::int32_t from, std::int32_t to) {
        double const bytes = static_cast<double>(structure_.cblk(branch(u).root).width()) *
                             distribution_.format.scalar_bytes;
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
            TaskId const sum =
                add_task({SolveTaskKind::send_sum, u, process, process}, model_.add(rows, 1));
            for (Source const& source : sources) connect(forward(source.branch), sum);
            messages.push_back(add_message(u, process, process_of(u)));
            connect(sum, messages.back());
            result_.contributors.processes.push_back(process);
        });
        result_.contributors.ptr.push_back(std::ssize(result_.contributors.processes));
        TaskId const task = add_task({SolveTaskKind::forward, u, process_of(u), process_of(u)}, seconds(u));
        result_.forward_of_branch.push_back(task);
        for (TaskId const message : messages) connect(message, task);
    }

    void add_backward(BranchId u) {
        TaskId const task = add_task({SolveTaskKind::backward, u, process_of(u), process_of(u)}, seconds(u));
        result_.backward_of_branch[u] = task;
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
        for (auto const& [received, source] : solutions_) connect(received, backward(source));
    }

    void connect_to_parent(BranchId u) {
        CblkId const parent = structure_.cblk(branch(u).root).parent;
        BranchId const above = parent == no_cblk ? u : partition_.branch_of_cblk[parent];
        if (above == u || process_of(above) != process_of(u)) {
            connect(forward(u), backward(u)); // in the latter case implied by messages, but known here at once
            return;
        }
        connect(forward(u), forward(above));
        connect(backward(above), backward(u));
    }

    [[nodiscard]] TaskId forward(BranchId u) const { return result_.forward_of_branch[u]; }
    [[nodiscard]] TaskId backward(BranchId u) const { return result_.backward_of_branch[u]; }

    // Of one half of the solve. Kept cblks are not eliminated.
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
    BranchId num_branches_;
    std::vector<Offset> sources_ptr_{0};
    std::vector<Source> sources_; // by branch, process and source
    std::vector<Solution> solutions_;
    std::vector<TaskEdge> edges_;
    SolveTasks result_;
};

} // namespace

SolveTasks build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition,
                             CostModel const& model, Distribution const& distribution) {
    return SolveTaskBuilder(structure, partition, model, distribution).run();
}

} // namespace espalier
