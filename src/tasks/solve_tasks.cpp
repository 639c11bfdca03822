#include "tasks/solve_tasks.hpp"

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

class SolveTaskBuilder {
  public:
    SolveTaskBuilder(BlockStructure const& structure, BranchPartition const& partition,
                     std::span<std::int32_t const> process_of_branch, std::int32_t process,
                     Contributors contributors)
        : structure_(structure), partition_(partition), process_of_branch_(process_of_branch),
          process_(process), num_branches_(static_cast<BranchId>(partition.branches.size())) {
        result_.contributors = std::move(contributors);
    }

    SolveTasks run() {
        bool const alone = process_of_branch_.empty();
        if (alone)
            result_.contributors.ptr.assign(partition_.branches.size() + 1, 0);
        else
            find_sources();
        result_.forward_of_branch.assign(num_branches_, no_task);
        result_.backward_of_branch = result_.forward_of_branch;
        for (BranchId u = 0; u < num_branches_; ++u) add(SolveTaskKind::forward, SolveTaskKind::send_sum, u);
        for (BranchId u = num_branches_; u-- > 0;)
            add(SolveTaskKind::backward, SolveTaskKind::receive_solution, u);
        for (BranchId u = 0; u < num_branches_; ++u) connect_to_parent(u);
        if (!alone) connect_to_other_processes();
        connect_tasks(result_.graph, static_cast<TaskId>(result_.tasks.size()), edges_);
        result_.graph.priority = longest_paths(result_.graph);
        for (TaskId const task : awaited_) ++result_.graph.num_predecessors[task];
        result_.num_events = std::ssize(awaited_);
        result_.graph.home.assign(result_.tasks.size(), 0);
        return std::move(result_);
    }

  private:
    [[nodiscard]] bool is_own(BranchId u) const {
        return process_of_branch_.empty() || process_of_branch_[u] == process_;
    }
    [[nodiscard]] Branch const& branch(BranchId u) const { return partition_.branches[u]; }
    [[nodiscard]] BranchId branch_of(CblkId k) const { return partition_.branch_of_cblk[k]; }

    void find_sources() {
        sources_.resize(num_branches_);
        for (BranchId u = 0; u < num_branches_; ++u) {
            if (is_own(u)) continue;
            for (BlokId const b : structure_.bloks_facing(branch(u).root)) {
                CblkId const source = structure_.owner_of_blok[b];
                if (structure_.is_kept(source)) break;
                if (sources_[u].empty() || sources_[u].back() != branch_of(source))
                    sources_[u].push_back(branch_of(source));
            }
        }
    }

    void add(SolveTaskKind own, SolveTaskKind other, BranchId u) {
        bool const mine = is_own(u);
        if (!mine && sources_[u].empty()) return;
        bool const up = own == SolveTaskKind::forward;
        (up ? result_.forward_of_branch : result_.backward_of_branch)[u] =
            static_cast<TaskId>(result_.tasks.size());
        result_.tasks.push_back({mine ? own : other, u});
        result_.graph.cost.push_back(mine ? entries(u) : 0);
    }

    [[nodiscard]] double entries(BranchId u) const {
        double sum = 0;
        for (CblkId k = branch(u).first; k <= branch(u).root; ++k) {
            Cblk const& cblk = structure_.cblk(k);
            sum += static_cast<double>(cblk.stride) * static_cast<double>(cblk.width());
        }
        return sum;
    }

    [[nodiscard]] TaskId forward(BranchId u) const { return result_.forward_of_branch[u]; }
    [[nodiscard]] TaskId backward(BranchId u) const { return result_.backward_of_branch[u]; }

    void connect_to_parent(BranchId u) {
        if (!is_own(u)) return;
        CblkId const parent = structure_.cblk(branch(u).root).parent;
        if (parent == no_cblk) {
            edges_.push_back({forward(u), backward(u)});
        } else if (BranchId const above = branch_of(parent); is_own(above)) {
            edges_.push_back({forward(u), forward(above)});
            edges_.push_back({backward(above), backward(u)});
        } else {
            edges_.push_back({forward(u), backward(u)}); // implied by messages, but known here at once
        }
    }

    void connect_to_other_processes() {
        for (BranchId j = 0; j < num_branches_; ++j) {
            for (BranchId const u : sources_[j]) {
                edges_.push_back({forward(u), forward(j)});   // send_sum
                edges_.push_back({backward(j), backward(u)}); // receive_solution
            }
            if (!sources_[j].empty()) awaited_.push_back(backward(j));
            awaited_.insert(awaited_.end(), result_.contributors.of(j).size(), forward(j));
        }
    }

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    std::span<std::int32_t const> process_of_branch_;
    std::int32_t process_;
    BranchId num_branches_;
    std::vector<std::vector<BranchId>> sources_; // own branches that face each one of other processes
    std::vector<TaskEdge> edges_;
    std::vector<TaskId> awaited_; // tasks that wait for a message, once for each
    SolveTasks result_;
};

} // namespace

Contributors find_contributors(BlockStructure const& structure, BranchPartition const& partition,
                               std::span<std::int32_t const> process_of_branch) {
    Contributors result;
    std::vector<std::int32_t> processes;
    for (std::size_t u = 0; u < partition.branches.size(); ++u) {
        Branch const& branch = partition.branches[u];
        processes.clear();
        if (branch.first == branch.root) // only subtrees have more cblks, and nothing outside faces them
            for (BlokId const b : structure.bloks_facing(branch.root)) {
                CblkId const source = structure.owner_of_blok[b];
                if (structure.is_kept(source)) break;
                std::int32_t const process = process_of_branch[partition.branch_of_cblk[source]];
                bool const repeated = !processes.empty() && processes.back() == process;
                if (process != process_of_branch[u] && !repeated) processes.push_back(process);
            }
        std::sort(processes.begin(), processes.end());
        processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
        result.processes.insert(result.processes.end(), processes.begin(), processes.end());
        result.ptr.push_back(std::ssize(result.processes));
    }
    return result;
}

SolveTasks build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition,
                             std::span<std::int32_t const> process_of_branch, std::int32_t process,
                             Contributors contributors) {
    return SolveTaskBuilder(structure, partition, process_of_branch, process, std::move(contributors)).run();
}

} // namespace espalier
