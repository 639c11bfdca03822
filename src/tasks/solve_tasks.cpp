#include "tasks/solve_tasks.hpp"

#include <algorithm>
#include <utility>

#include "tasks/priorities.hpp"

namespace espalier {

namespace {

class SolveTaskBuilder {
  public:
    SolveTaskBuilder(BlockStructure const& structure, BranchPartition const& partition,
                     std::span<std::int32_t const> process_of_branch, std::int32_t process)
        : structure_(structure), partition_(partition), process_of_branch_(process_of_branch),
          process_(process), num_branches_(static_cast<BranchId>(partition.branches.size())) {}

    SolveTasks run() {
        bool const alone = process_of_branch_.empty();
        if (!alone) find_contributors();
        result_.forward_of_branch.assign(num_branches_, no_task);
        result_.backward_of_branch = result_.forward_of_branch;
        for (BranchId u = 0; u < num_branches_; ++u) add(SolveTaskKind::forward, SolveTaskKind::give, u);
        for (BranchId u = num_branches_; u-- > 0;) add(SolveTaskKind::backward, SolveTaskKind::take, u);
        for (BranchId u = 0; u < num_branches_; ++u) connect_to_parent(u);
        if (!alone) connect_to_others();
        connect_tasks(result_.graph, static_cast<TaskId>(result_.tasks.size()), edges_);
        set_critical_path_priorities(result_.graph);
        for (TaskId const task : awaited_) ++result_.graph.num_predecessors[task];
        result_.num_events = static_cast<std::int64_t>(awaited_.size());
        result_.graph.home.assign(result_.tasks.size(), 0);
        return std::move(result_);
    }

  private:
    [[nodiscard]] bool is_own(BranchId u) const {
        return process_of_branch_.empty() || process_of_branch_[u] == process_;
    }
    [[nodiscard]] Branch const& branch(BranchId u) const { return partition_.branches[u]; }
    [[nodiscard]] BranchId branch_of(CblkId k) const { return partition_.branch_of_cblk[k]; }

    // For each branch j of a single cblk the own branches that have rows there where j is not own, and the
    // other processes that have where it is.
    void find_contributors() {
        own_contributors_.resize(num_branches_);
        result_.giver_ptr.assign(1, 0);
        for (BranchId u = 0; u < num_branches_; ++u) {
            auto& own = own_contributors_[u];
            auto const j = static_cast<std::size_t>(branch(u).root);
            auto const first_giver = static_cast<std::ptrdiff_t>(result_.givers.size());
            if (branch(u).first == branch(u).root)
                for (Offset f = structure_.facing_ptr[j]; f < structure_.facing_ptr[j + 1]; ++f) {
                    BlokId const b = structure_.facing[f];
                    CblkId const source = structure_.owner_of_blok[b];
                    if (source >= structure_.first_kept_cblk) break;
                    BranchId const v = branch_of(source);
                    if (is_own(u) && !is_own(v))
                        result_.givers.push_back(process_of_branch_[v]);
                    else if (!is_own(u) && is_own(v) && (own.empty() || own.back() != v))
                        own.push_back(v);
                }
            auto const begin = result_.givers.begin() + first_giver;
            std::sort(begin, result_.givers.end());
            result_.givers.erase(std::unique(begin, result_.givers.end()), result_.givers.end());
            result_.giver_ptr.push_back(static_cast<Offset>(result_.givers.size()));
        }
    }

    void add(SolveTaskKind own, SolveTaskKind other, BranchId u) {
        bool const mine = is_own(u);
        if (!mine && own_contributors_[u].empty()) return;
        bool const up = own == SolveTaskKind::forward;
        (up ? result_.forward_of_branch : result_.backward_of_branch)[u] =
            static_cast<TaskId>(result_.tasks.size());
        result_.tasks.push_back({mine ? own : other, u});
        result_.graph.cost.push_back(mine ? entries(u) : 0);
    }

    [[nodiscard]] double entries(BranchId u) const {
        double sum = 0;
        for (CblkId k = branch(u).first; k <= branch(u).root; ++k) {
            Cblk const& cblk = structure_.cblks[k];
            sum += static_cast<double>(cblk.stride) * static_cast<double>(cblk.width());
        }
        return sum;
    }

    [[nodiscard]] TaskId forward(BranchId u) const { return result_.forward_of_branch[u]; }
    [[nodiscard]] TaskId backward(BranchId u) const { return result_.backward_of_branch[u]; }

    void connect_to_parent(BranchId u) {
        if (!is_own(u)) return;
        CblkId const parent = structure_.cblks[branch(u).root].parent;
        if (parent == no_cblk) {
            edges_.push_back({forward(u), backward(u)});
        } else if (BranchId const above = branch_of(parent); is_own(above)) {
            edges_.push_back({forward(u), forward(above)});
            edges_.push_back({backward(above), backward(u)});
        } else {
            edges_.push_back({forward(u), backward(u)}); // its message alone would tell the same, from afar
        }
    }

    void connect_to_others() {
        for (BranchId j = 0; j < num_branches_; ++j) {
            for (BranchId const u : own_contributors_[j]) {
                edges_.push_back({forward(u), forward(j)});   // give
                edges_.push_back({backward(j), backward(u)}); // take
            }
            if (!own_contributors_[j].empty()) awaited_.push_back(backward(j));
            for (std::size_t giver = 0; giver < result_.givers_of(j).size(); ++giver)
                awaited_.push_back(forward(j));
        }
    }

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    std::span<std::int32_t const> process_of_branch_;
    std::int32_t process_;
    BranchId num_branches_;
    std::vector<std::vector<BranchId>> own_contributors_; // of branches of others, ascending
    std::vector<TaskEdge> edges_;
    std::vector<TaskId> awaited_; // tasks that wait for a message, once for each
    SolveTasks result_;
};

} // namespace

SolveTasks build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition,
                             std::span<std::int32_t const> process_of_branch, std::int32_t process) {
    return SolveTaskBuilder(structure, partition, process_of_branch, process).run();
}

} // namespace espalier
