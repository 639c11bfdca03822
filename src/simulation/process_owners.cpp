#include "simulation/process_owners.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace espalier {

namespace {

template <class T> using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

// What one process has to give to the branch at hand.
struct Sum {
    double ready = 0;   // when it is complete, at its process
    double arrival = 0; // at any other process
    double adding = 0;  // seconds, at any other process
    Index rows = 0;
};

// When all contributions are there, by process of the target: the latest arrival from elsewhere needs only
// the two latest of all.
class Arrivals {
  public:
    void clear() { *this = {}; }
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
    // `own` is what the process itself has to give.
    [[nodiscard]] double at(std::int32_t process, Sum const& own) const {
        return std::max(own.ready, process == latest_process_ ? second_ : latest_);
    }
    [[nodiscard]] double adding(Sum const& own) const { return adding_ - own.adding; }

  private:
    double latest_ = 0, second_ = 0, adding_ = 0;
    std::int32_t latest_process_ = -1;
};

// Times of processes, and the earliest in a range of them: a binary tree of the processes that win.
class EarliestProcess {
  public:
    explicit EarliestProcess(int processes)
        : leaves_(static_cast<std::size_t>(processes)), time_(leaves_, 0.0), winner_(2 * leaves_, 0) {
        for (std::size_t p = 0; p < leaves_; ++p) winner_[leaves_ + p] = static_cast<std::int32_t>(p);
        for (std::size_t i = leaves_; i-- > 1;) winner_[i] = better(winner_[2 * i], winner_[2 * i + 1]);
    }
    void set(std::int32_t process, double time) {
        time_[process] = time;
        for (std::size_t i = (leaves_ + static_cast<std::size_t>(process)) / 2; i > 0; i /= 2)
            winner_[i] = better(winner_[2 * i], winner_[2 * i + 1]);
    }
    [[nodiscard]] std::int32_t within(Candidates range) const {
        std::int32_t best = range.first;
        std::size_t first = leaves_ + static_cast<std::size_t>(range.first);
        std::size_t end = leaves_ + static_cast<std::size_t>(range.end);
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
    std::size_t leaves_;
    std::vector<double> time_;
    std::vector<std::int32_t> winner_;
};

class OwnerSimulation {
  public:
    OwnerSimulation(BlockStructure const& structure, BranchPartition const& partition,
                    Contributions const& contributions, CostModel const& model, Mapping const& mapping,
                    MachineModel const& machine, PanelFormat const& format, RowGroups const& groups)
        : structure_(structure), partition_(partition), contributions_(contributions), model_(model),
          mapping_(mapping), machine_(machine), format_(format), groups_(groups),
          owner_(partition.branches.size(), -1), finish_(contributions.all.size(), 0.0),
          free_at_(static_cast<std::size_t>(machine.processes)), earliest_(machine.processes),
          sums_(static_cast<std::size_t>(machine.processes)) {
        for (auto& threads : free_at_)
            for (int t = 0; t < machine.threads; ++t) threads.push(0);
    }

    std::vector<std::int32_t> run() {
        list_by_source();
        for (std::size_t u = 0; u < owner_.size(); ++u)
            if (waiting_[u] == 0) ready_.emplace(0, static_cast<BranchId>(u));
        while (!ready_.empty()) {
            BranchId const u = ready_.top().second;
            ready_.pop();
            give_updates(u, place(u));
        }
        return std::move(owner_);
    }

  private:
    // The contributions by source, and who waits for how many.
    void list_by_source() {
        std::size_t const count = owner_.size();
        auto const& all = contributions_.all;
        given_ptr_.assign(count + 1, 0);
        waiting_.assign(count, 0);
        ready_at_.assign(count, 0.0);
        panel_seconds_.resize(count);
        for (std::size_t u = 0; u < count; ++u) panel_seconds_[u] = partition_.branches[u].cost;
        for (Contribution const& one : all) {
            auto const source = static_cast<std::size_t>(one.source);
            ++given_ptr_[source + 1];
            panel_seconds_[source] = std::max(0.0, panel_seconds_[source] - one.seconds);
        }
        for (std::size_t u = 0; u < count; ++u) given_ptr_[u + 1] += given_ptr_[u];
        given_.resize(all.size());
        std::vector<Offset> next(given_ptr_.begin(), given_ptr_.end() - 1);
        for (std::size_t j = 0; j < count; ++j)
            for (Offset c = contributions_.ptr[j]; c < contributions_.ptr[j + 1]; ++c) {
                auto const source = static_cast<std::size_t>(all[c].source);
                given_[next[source]++] = {c, static_cast<BranchId>(j)};
                ++waiting_[j];
            }
    }

    // Chooses the owner of u; returns when the panels are done.
    double place(BranchId u) {
        CblkId const root = partition_.branches[u].root;
        int const parts = parts_of(root);
        double const diagonal = parts > 1 ? model_.panel(width_of(root), 0) : 0;
        double const below = std::max(0.0, panel_seconds_[u] - diagonal);
        double const seconds = diagonal + below / parts;
        collect(u, root);
        // Those who have nothing to give differ only in when they are free.
        // A Schur complement is wanted in one place.
        bool const is_kept = root >= structure_.first_kept_cblk;
        Candidates const candidates = is_kept ? Candidates{0, 1} : mapping_.processes_of(root);
        std::int32_t best = earliest_.within(candidates);
        double finish = finish_on(best, seconds);
        for (std::int32_t const p : givers_) {
            double const other = finish_on(p, seconds);
            if (!candidates.contains(p) || other > finish || (other == finish && p > best)) continue;
            best = p;
            finish = other;
        }
        owner_[u] = best;
        for (int part = 0; part < parts; ++part) occupy_thread(best, finish);
        for (std::int32_t const p : givers_) sums_[p] = {};
        givers_.clear();
        arrivals_.clear();
        return finish;
    }

    // The thread of a process that is free first has work until `time`.
    void occupy_thread(std::int32_t process, double time) {
        auto& threads = free_at_[process];
        threads.pop();
        threads.push(time);
        earliest_.set(process, threads.top());
    }

    // How many threads share the work on cblk k: one for each group below the diagonal block.
    [[nodiscard]] int parts_of(CblkId k) const {
        return std::clamp(static_cast<int>(groups_.count(k)) - 1, 1, machine_.threads);
    }
    [[nodiscard]] Index width_of(CblkId k) const { return structure_.cblks[k].width(); }

    void give_updates(BranchId u, double panel_done) {
        auto const s = static_cast<std::size_t>(u);
        auto const& threads = free_at_[owner_[s]];
        for (Offset g = given_ptr_[s]; g < given_ptr_[s + 1]; ++g) {
            auto const [contribution, target] = given_[g];
            auto const c = static_cast<std::size_t>(contribution);
            auto const j = static_cast<std::size_t>(target);
            int const parts = parts_of(partition_.branches[j].root);
            for (int part = 0; part < parts; ++part) {
                finish_[c] = std::max(threads.top(), panel_done) + contributions_.all[c].seconds / parts;
                occupy_thread(owner_[s], finish_[c]);
            }
            ready_at_[j] = std::max(ready_at_[j], finish_[c]);
            if (--waiting_[j] == 0) ready_.emplace(ready_at_[j], target);
        }
    }

    void collect(BranchId u, CblkId target) {
        auto const j = static_cast<std::size_t>(u);
        for (Offset at = contributions_.ptr[j]; at < contributions_.ptr[j + 1]; ++at) {
            auto const c = static_cast<std::size_t>(at);
            Contribution const& one = contributions_.all[c];
            std::int32_t const process = owner_[one.source];
            Sum& sum = sums_[process];
            if (sum.rows == 0) givers_.push_back(process);
            sum.rows += one.rows;
            sum.ready = std::max(sum.ready, finish_[c]);
        }
        Cblk const& cblk = structure_.cblks[target];
        for (std::int32_t const process : givers_) {
            Sum& sum = sums_[process];
            Index const rows = std::min(sum.rows, cblk.stride); // at most
            sum.adding = model_.add(rows, cblk.width()) / parts_of(target);
            sum.arrival = sum.ready + machine_.network.seconds(format_.bytes(rows, cblk.width()));
            arrivals_.add(process, sum);
        }
    }

    [[nodiscard]] double finish_on(std::int32_t process, double seconds) const {
        Sum const& own = sums_[process];
        double const free = free_at_[process].top();
        return std::max(free, arrivals_.at(process, own)) + arrivals_.adding(own) + seconds;
    }

    BlockStructure const& structure_;
    BranchPartition const& partition_;
    Contributions const& contributions_;
    CostModel const& model_;
    Mapping const& mapping_;
    MachineModel const& machine_;
    PanelFormat const& format_;
    RowGroups const& groups_;
    struct Given {
        Offset contribution;
        BranchId target;
    };
    std::vector<Offset> given_ptr_; // by source
    std::vector<Given> given_;
    std::vector<std::int32_t> waiting_; // contributions to come, by target
    std::vector<double> ready_at_;      // when they are all computed
    std::vector<double> panel_seconds_; // of a branch without its updates to elsewhere
    MinHeap<std::pair<double, BranchId>> ready_;
    std::vector<std::int32_t> owner_;
    std::vector<double> finish_;           // of each contribution
    std::vector<MinHeap<double>> free_at_; // threads of each process
    EarliestProcess earliest_;             // by its first free thread
    // Of the branch at hand:
    std::vector<Sum> sums_; // by process
    std::vector<std::int32_t> givers_;
    Arrivals arrivals_;
};

} // namespace

std::vector<std::int32_t> choose_processes(BlockStructure const& structure, BranchPartition const& partition,
                                           Contributions const& contributions, CostModel const& model,
                                           Mapping const& mapping, MachineModel const& machine,
                                           PanelFormat const& format, RowGroups const& groups) {
    if (machine.processes == 1) return std::vector<std::int32_t>(partition.branches.size(), 0);
    return OwnerSimulation(structure, partition, contributions, model, mapping, machine, format, groups)
        .run();
}

} // namespace espalier
