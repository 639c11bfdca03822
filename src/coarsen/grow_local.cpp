// GrowLocal: steps that grow as long as the cores gain from it.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <vector>

#include <fmt/format.h>

#include "coarsen/super_steps.hpp"

namespace espalier {

namespace {

constexpr Index first_trial = 20;       ///< Tasks of the first core in the first trial of a step.
constexpr double trial_growth = 1.5;    ///< Growth of that number from trial to trial.
constexpr double accepted_score = 0.97; ///< A trial is worse if its score is below this part of the best.
constexpr double barrier_tasks = 50;    ///< Tasks of mean cost that take as long as a synchronization.
/// A step that takes longer than this number of synchronizations grows only if it uses at least this part of
/// the cores that recent steps have used.
constexpr double long_step = 4, accepted_parallelism = 0.8;

/// A set of tasks with a fast search for the lowest one. It has a bit for each task, and on each higher level
/// a bit for every 64 bits of the level below that are not all zero.
class LowestFirst {
  public:
    explicit LowestFirst(TaskId tasks) {
        do {
            tasks = (tasks + 63) / 64;
            levels_.emplace_back(tasks, 0);
        } while (tasks > 1);
    }
    [[nodiscard]] bool empty() const { return levels_.back().empty() || levels_.back()[0] == 0; }
    void push(TaskId task) {
        for (auto& level : levels_) {
            std::uint64_t& word = level[task / 64];
            bool const was_empty = word == 0;
            word |= std::uint64_t(1) << (task % 64);
            if (!was_empty) return;
            task /= 64;
        }
    }
    TaskId pop() {
        TaskId lowest = 0;
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
            lowest = lowest * 64 + std::countr_zero((*level)[lowest]);
        TaskId at = lowest;
        for (auto& level : levels_) {
            std::uint64_t& word = level[at / 64];
            word &= ~(std::uint64_t(1) << (at % 64));
            if (word != 0) break;
            at /= 64;
        }
        return lowest;
    }

  private:
    std::vector<std::vector<std::uint64_t>> levels_;
};

/// A set of tasks whose memory is proportional to the number of its members.
using LowestOfFew = std::priority_queue<TaskId, std::vector<TaskId>, std::greater<>>;

class StepGrowth {
  public:
    StepGrowth(TaskGraph const& graph, Index cores)
        : graph_(graph), waiting_(count_task_predecessors(graph)), core_(graph.num_tasks(), unknown),
          ready_(graph.num_tasks()), own_(cores), usual_parallelism_(static_cast<double>(cores)) {
        double total = 0;
        for (TaskId task = 0; task < graph.num_tasks(); ++task) {
            total += cost_of(graph, task);
            if (waiting_[task] == 0) ready_.push(task);
        }
        barrier_ = barrier_tasks * total / std::max<double>(1, graph.num_tasks());
    }

    Aggregation run(Interrupt* interrupt) {
        Aggregation aggregation(graph_.num_tasks(), no_task);
        TaskId aggregates = 0;
        for (TaskId assigned = 0; assigned < graph_.num_tasks();) {
            find_step(interrupt);
            std::vector<TaskId> number(best_.back().core + 1, no_task); // the cores ascend
            for (auto const& [task, core] : best_) {
                if (number[core] == no_task) number[core] = aggregates++;
                aggregation[task] = number[core];
            }
            assigned += static_cast<TaskId>(best_.size());
            commit();
        }
        return aggregation;
    }

  private:
    /// Values of core_: the task has no predecessor in this step yet, has predecessors on several cores, or
    /// is in a step.
    static constexpr std::int32_t unknown = -1, several = -2, done = -3;

    struct Assignment {
        TaskId task;
        std::int32_t core;
    };

    /// Tries longer and longer steps, and leaves the best one in best_.
    void find_step(Interrupt* interrupt) {
        double best_score = 0;
        best_.clear();
        Index size = first_trial;
        while (true) {
            check(interrupt);
            try_step(size);
            bool const longer = trial_.size() > best_.size();
            double const cost = std::accumulate(weight_.begin(), weight_.end(), 0.0);
            double const time = *std::max_element(weight_.begin(), weight_.end());
            // The cost that is done in the time of the busiest core and a synchronization.
            double const score = cost / (time + barrier_);
            double const parallelism = time > 0 ? cost / time : 1;
            bool const better = score >= accepted_score * best_score;
            bool const parallel =
                time < long_step * barrier_ || parallelism >= accepted_parallelism * usual_parallelism_;
            undo_trial();
            if (best_.empty() || (longer && better && parallel)) {
                best_score = std::max(best_score, score);
                best_ = trial_;
                best_parallelism_ = parallelism;
                size = static_cast<Index>(trial_growth * static_cast<double>(size));
                continue;
            }
            usual_parallelism_ = (usual_parallelism_ + best_parallelism_) / 2;
            return;
        }
    }

    /// The first core takes up to `size` tasks, the others as much cost as the first.
    void try_step(Index size) {
        trial_.clear();
        taken_ = 0;
        weight_.assign(1, 0.0);
        for (Index k = 0; k < size && take(0); ++k) {
        }
        for (std::int32_t core = 1; core < std::ssize(own_) && weight_[0] > 0; ++core) {
            weight_.push_back(0.0);
            while (weight_[core] < weight_[0])
                if (!take(core)) return; // later cores cannot take a task either
        }
    }

    /// Assigns the lowest task that only this core can run, or else the lowest that any core can run.
    bool take(std::int32_t core) {
        TaskId task;
        if (!own_[core].empty()) {
            task = own_[core].top();
            own_[core].pop();
        } else if (taken_ < popped_.size()) {
            task = popped_[taken_++];
        } else if (!ready_.empty()) {
            task = ready_.pop();
            popped_.push_back(task);
            ++taken_;
        } else {
            return false;
        }
        trial_.push_back({task, core});
        weight_[core] += cost_of(graph_, task);
        for (TaskId const next : graph_.successors_of(task)) {
            core_[next] = core_[next] == unknown || core_[next] == core ? core : several;
            if (--waiting_[next] == 0 && core_[next] == core) own_[core].push(next);
        }
        return true;
    }

    void undo_trial() {
        for (auto const& [task, core] : trial_)
            for (TaskId const next : graph_.successors_of(task)) {
                ++waiting_[next];
                core_[next] = unknown;
            }
        for (std::size_t core = 0; core < weight_.size(); ++core) own_[core] = {};
    }

    /// Ends the step best_. Tasks that have become ready may run on any core in the next step.
    void commit() {
        for (auto const& [task, core] : best_) core_[task] = done;
        for (TaskId const task : popped_)
            if (core_[task] != done) ready_.push(task);
        popped_.clear();
        for (auto const& [task, core] : best_)
            for (TaskId const next : graph_.successors_of(task))
                if (--waiting_[next] == 0 && core_[next] != done) ready_.push(next);
    }

    TaskGraph const& graph_;
    std::vector<std::int32_t> waiting_; ///< Predecessors that have not been assigned yet.
    std::vector<std::int32_t> core_;    ///< The core of the predecessors in this step; or a constant above.
    LowestFirst ready_;                 ///< Tasks that any core can run.
    std::vector<TaskId> popped_;        ///< Tasks taken from ready_ in a trial of this step, ascending.
    std::size_t taken_ = 0;             ///< The number of tasks of popped_ that the current trial has taken.
    std::vector<LowestOfFew> own_;      ///< For each core, tasks that became ready on it in this step.
    std::vector<double> weight_;        ///< The cost of the current trial on the cores that it uses.
    std::vector<Assignment> trial_, best_;
    double usual_parallelism_; ///< Mean cost per time of the busiest core, of recent steps.
    double best_parallelism_ = 1;
    double barrier_ = 0; ///< Cost of a synchronization.
};

} // namespace

Aggregation aggregate_grow_local(TaskGraph const& graph, Index cores, Interrupt* interrupt) {
    if (cores < 1) throw Error(Status::usage, fmt::format("GrowLocal: {} cores; expected at least 1", cores));
    return StepGrowth(graph, std::min<Index>(cores, std::max(1, graph.num_tasks()))).run(interrupt);
}

} // namespace espalier
