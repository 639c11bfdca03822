#include "simulation/process_owners.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "core/id_limit.hpp"
#include "simulation/engine.hpp"

namespace espalier {

namespace {

template <class T> using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

// The sum of the contributions of one process to the branch at hand.
struct Sum {
    double ready = 0;   // time at which it is complete at its process
    double arrival = 0; // time at which it reaches another process
    double adding = 0;  // seconds to add it at another process
    Index rows = 0;
};

// The time at which all contributions are at a process. It is the latest arrival from another process, which
// is one of the two latest arrivals of all.
class Arrivals {
  public:
    void add(std::int32_t process, Sum const& sum) {
        adding_ += sum.adding;
        if (sum.arrival > latest_) {
            second_ = latest_;
            latest_ = sum.arrival;
            latest_process_ = process;
        } else {
            second_ = std::max(second_, sum.arrival);
        }
    }
    // `own` is the sum of the process itself.
    [[nodiscard]] double at(std::int32_t process, Sum const& own) const {
        return std::max(own.ready, process == latest_process_ ? second_ : latest_);
    }
    [[nodiscard]] double adding(Sum const& own) const { return adding_ - own.adding; }

  private:
    double latest_ = 0, second_ = 0, adding_ = 0;
    std::int32_t latest_process_ = -1;
};

// Times of processes, and the earliest process in a range: a tournament tree.
class EarliestProcess {
  public:
    explicit EarliestProcess(int processes)
        : leaves_(processes), time_(leaves_, 0.0), winner_(2 * leaves_, 0) {
        for (int p = 0; p < leaves_; ++p) winner_[leaves_ + p] = p;
        for (int i = leaves_; i-- > 1;) winner_[i] = better(winner_[2 * i], winner_[2 * i + 1]);
    }
    void set(std::int32_t process, double time) {
        time_[process] = time;
        for (int i = (leaves_ + process) / 2; i > 0; i /= 2)
            winner_[i] = better(winner_[2 * i], winner_[2 * i + 1]);
    }
    [[nodiscard]] std::int32_t within(Candidates range) const {
        std::int32_t best = range.first;
        int first = leaves_ + range.first, end = leaves_ + range.end;
        for (; first < end; first /= 2, end /= 2) {
            if (first % 2 == 1) best = better(best, winner_[first++]);
            if (end % 2 == 1) best = better(best, winner_[--end]);
        }
        return best;
    }

  private:
    [[nodiscard]] std::int32_t better(std::int32_t a, std::int32_t b) const {
        double const ta = time_[a], tb = time_[b];
        return ta < tb || (ta == tb && a < b) ? a : b;
    }
    int leaves_;
    std::vector<double> time_;
    std::vector<std::int32_t> winner_;
};

// First in, first out. An empty one takes little memory: there may be a million processes.
class Fifo {
  public:
    void push(TaskId task) { tasks_.push_back(task); }
    [[nodiscard]] bool empty() const { return first_ == std::ssize(tasks_); }
    TaskId pop() { return tasks_[first_++]; }

  private:
    std::vector<TaskId> tasks_;
    Offset first_ = 0;
};

// The policy and the clock of the coarse simulation. A task of the coarse graph is the panels of a branch, or
// the update of one branch by another, each divided equally among as many threads as share the target's
// groups of rows. Each process runs its tasks in the order in which they become ready. So when a task becomes
// ready it is known when a thread of a process will be free for it, and the policy reserves that thread.
class OwnerPolicy : public Policy, public TaskClock {
  public:
    OwnerPolicy(BlockStructure const& structure, BranchPartition const& partition,
                Contributions const& contributions, CostModel const& model, Mapping const& mapping,
                MachineModel const& machine, PanelFormat const& format, RowGroups const& groups)
        : structure_(structure), partition_(partition), contributions_(contributions), model_(model),
          mapping_(mapping), machine_(machine), format_(format), groups_(groups),
          owner_(partition.branches.size(), -1), arrival_(owner_.size(), 0.0), adding_(owner_.size(), 0.0),
          panel_end_(owner_.size(), 0.0), finish_(contributions.all.size(), 0.0), queues_(machine.processes),
          free_at_(machine.processes), earliest_(machine.processes), sums_(machine.processes) {
        for (auto& threads : free_at_)
            for (int t = 0; t < machine.threads; ++t) threads.push(0);
        build_graph();
    }

    std::vector<std::int32_t> run() {
        simulate(graph_, *this, machine_.num_workers(), nullptr, this);
        return std::move(owner_);
    }

  private:
    WorkerId push(TaskId task, WorkerId) override {
        auto const [branch, contribution] = tasks_[task];
        if (task == first_part_[branch]) place(branch);
        std::int32_t const process = owner_[branch];
        double const ready = contribution == no_contribution ? arrival_[branch] : panel_end_[branch];
        reserve_thread(process, std::max(free_at_[process].top(), ready) + seconds_of(task));
        queues_[process].push(task);
        return any_worker;
    }
    TaskId pop(WorkerId worker) override {
        auto& queue = queues_[machine_.process_of(worker)];
        return queue.empty() ? no_task : queue.pop();
    }
    [[nodiscard]] WorkerId worker_to_wake(TaskId task, WorkerId, WorkerId, int,
                                          IdleWorkers const& idle) const override {
        std::int32_t const process = owner_[tasks_[task].branch];
        return idle.first_in({process * machine_.threads, (process + 1) * machine_.threads});
    }
    // A thread waits for the contributions from other processes.
    double begin(TaskId task, WorkerId, double now) override {
        auto const [branch, contribution] = tasks_[task];
        if (contribution != no_contribution) {
            finish_[contribution] = now + graph_.cost[task];
            return graph_.cost[task];
        }
        panel_end_[branch] = std::max(now, arrival_[branch]) + seconds_of(task);
        return panel_end_[branch] - now;
    }
    void end(TaskId, WorkerId) override {}

    // The parts of one branch or update end in the order of their numbers, so the last one stands for all.
    void build_graph() {
        auto const num_branches = static_cast<BranchId>(partition_.branches.size());
        std::vector<double> panel_seconds; // by branch, without its updates of other branches
        for (Branch const& branch : partition_.branches) panel_seconds.push_back(branch.cost);
        for (Contribution const& one : contributions_.all) panel_seconds[one.source] -= one.seconds_in_source;
        for (BranchId u = 0; u < num_branches; ++u) {
            int const parts = parts_of(root_of(u));
            double const diagonal = parts > 1 ? model_.panel(structure_.cblks[root_of(u)].width(), 0) : 0;
            double const below = std::max(0.0, panel_seconds[u] - diagonal);
            first_part_.push_back(add_tasks({u, no_contribution}, parts, diagonal + below / parts));
        }
        std::vector<TaskEdge> edges;
        for (BranchId target = 0; target < num_branches; ++target) {
            int const parts = parts_of(root_of(target));
            for (Offset c = contributions_.ptr[target]; c < contributions_.ptr[target + 1]; ++c) {
                auto const [source, seconds] =
                    std::pair(contributions_.all[c].source, contributions_.all[c].seconds);
                TaskId const first = add_tasks({source, c}, parts, seconds / parts);
                TaskId const last_of_source = first_part_[source] + parts_of(root_of(source)) - 1;
                for (int part = 0; part < parts; ++part) {
                    edges.push_back({last_of_source, first + part});
                    edges.push_back({first + parts - 1, first_part_[target] + part});
                }
            }
        }
        graph_.priority.assign(tasks_.size(), 0.0);
        connect_tasks(graph_, checked_tasks(tasks_.size()), edges);
    }

    struct CoarseTask {
        BranchId branch;     // the owner of this branch runs the task
        Offset contribution; // a contribution of that branch; no_contribution: its panels
    };
    static constexpr Offset no_contribution = -1;

    TaskId add_tasks(CoarseTask const& task, int parts, double seconds) {
        auto const first = checked_tasks(tasks_.size());
        tasks_.insert(tasks_.end(), parts, task);
        graph_.cost.insert(graph_.cost.end(), parts, seconds);
        return first;
    }

    // How many threads share the work on cblk k: one for each group below the diagonal block.
    [[nodiscard]] int parts_of(CblkId k) const {
        return std::clamp(groups_.count(k) - 1, 1, machine_.threads);
    }
    [[nodiscard]] CblkId root_of(BranchId u) const { return partition_.branches[u].root; }
    [[nodiscard]] double seconds_of(TaskId task) const {
        auto const [branch, contribution] = tasks_[task];
        return graph_.cost[task] + (contribution == no_contribution ? adding_[branch] : 0);
    }

    // The owner of u is the candidate that finishes it first. Processes without contributions differ only in
    // the time at which they are free. A Schur complement belongs to process 0.
    void place(BranchId u) {
        collect(u);
        double const seconds = graph_.cost[first_part_[u]];
        bool const is_kept = root_of(u) >= structure_.first_kept_cblk;
        Candidates const candidates = is_kept ? Candidates{0, 1} : mapping_.processes_of(root_of(u));
        std::int32_t best = earliest_.within(candidates);
        double finish = finish_on(best, seconds);
        for (std::int32_t const p : sources_) {
            double const other = finish_on(p, seconds);
            if (!candidates.contains(p) || other > finish || (other == finish && p > best)) continue;
            best = p;
            finish = other;
        }
        owner_[u] = best;
        arrival_[u] = arrivals_.at(best, sums_[best]);
        adding_[u] = arrivals_.adding(sums_[best]);
        for (std::int32_t const p : sources_) sums_[p] = {};
        sources_.clear();
        arrivals_ = {};
    }

    // The thread of a process that is free first has work until `time`.
    void reserve_thread(std::int32_t process, double time) {
        auto& threads = free_at_[process];
        threads.pop();
        threads.push(time);
        earliest_.set(process, threads.top());
    }

    void collect(BranchId u) {
        for (Offset c = contributions_.ptr[u]; c < contributions_.ptr[u + 1]; ++c) {
            Contribution const& one = contributions_.all[c];
            std::int32_t const process = owner_[one.source];
            Sum& sum = sums_[process];
            if (sum.rows == 0) sources_.push_back(process);
            sum.rows += one.rows;
            sum.ready = std::max(sum.ready, finish_[c]);
        }
        Cblk const& cblk = structure_.cblks[root_of(u)];
        for (std::int32_t const process : sources_) {
            Sum& sum = sums_[process];
            Index const rows = std::min(sum.rows, cblk.stride); // at most
            sum.adding = model_.add(rows, cblk.width()) / parts_of(root_of(u));
            sum.arrival = sum.ready + machine_.network.seconds(format_.bytes(rows, cblk.width()));
            arrivals_.add(process, sum);
        }
    }

    [[nodiscard]] double finish_on(std::int32_t process, double seconds) const {
        Sum const& own = sums_[process];
        return std::max(free_at_[process].top(), arrivals_.at(process, own)) + arrivals_.adding(own) +
               seconds;
    }

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    Contributions const& contributions_;
    CostModel const& model_;
    Mapping const& mapping_;
    MachineModel const& machine_;
    PanelFormat const& format_;
    RowGroups const& groups_;
    std::vector<CoarseTask> tasks_;
    TaskGraph graph_;
    std::vector<TaskId> first_part_; // by branch
    std::vector<std::int32_t> owner_;
    std::vector<double> arrival_;          // by branch: when all contributions are at its owner
    std::vector<double> adding_;           // by branch: seconds to add those from other processes
    std::vector<double> panel_end_;        // by branch
    std::vector<double> finish_;           // by contribution
    std::vector<Fifo> queues_;             // by process
    std::vector<MinHeap<double>> free_at_; // by process: of each thread, queued tasks included
    EarliestProcess earliest_;             // by its first free thread
    // For the branch at hand:
    std::vector<Sum> sums_;             // by process
    std::vector<std::int32_t> sources_; // processes with contributions
    Arrivals arrivals_;
};

} // namespace

std::vector<std::int32_t> choose_processes(BlockStructure const& structure, BranchPartition const& partition,
                                           Contributions const& contributions, CostModel const& model,
                                           Mapping const& mapping, MachineModel const& machine,
                                           PanelFormat const& format, RowGroups const& groups) {
    if (machine.processes == 1) return std::vector<std::int32_t>(partition.branches.size(), 0);
    return OwnerPolicy(structure, partition, contributions, model, mapping, machine, format, groups).run();
}

} // namespace espalier
