// List scheduling on ranges of workers (Graham 1969): a free worker takes the ready task of highest priority
// among those for which it is a candidate. It takes another ready task within its reach instead if it is a
// candidate for none, or if that task is clearly more urgent. As the workers are equally fast, each task
// starts on the worker that finishes it first. In: two ranges of workers for each task, its candidates and,
// around them, its reach.
//
// The queues form a binary tree over the workers. A task is queued at the O(log workers) nodes that make up
// its range, and is dropped from the others once a worker has taken it; a worker searches above its leaf.
#pragma once

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "mapping/proportional.hpp"
#include "simulation/engine.hpp"

namespace espalier {

/// The workers that may run a task.
struct TaskRange {
    Candidates candidates; ///< Preferred.
    Candidates reach;      ///< Contains the candidates.
};

/// The policy of static plans. For the simulation only: one thread.
class CandidateQueues : public Policy {
  public:
    /// `graph` (of which priorities are used) and `ranges`, by task, must outlive this.
    CandidateQueues(TaskGraph const& graph, std::vector<TaskRange> const& ranges, int workers)
        : graph_(graph), ranges_(ranges), workers_(workers), by_candidates_(2 * workers),
          by_reach_(2 * workers), by_(graph.num_tasks(), any_worker), taken_(graph.num_tasks(), false) {}

    WorkerId push(TaskId task, WorkerId by) override {
        TaskRange const& range = ranges_[task];
        by_[task] = by;
        put(by_candidates_, range.candidates, {graph_.priority[task], task});
        if (range.reach != range.candidates) put(by_reach_, range.reach, {graph_.priority[task], task});
        return any_worker;
    }

    TaskId pop(WorkerId worker) override {
        std::vector<ReadyTask>* best = best_for(by_candidates_, worker);
        auto* const other = best_for(by_reach_, worker);
        if (other && (!best || other->front().priority > urgency * best->front().priority)) best = other;
        if (!best) return no_task;
        TaskId const task = best->front().task;
        taken_[task] = true;
        return task;
    }

    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override {
        return ranges_[task].reach.contains(worker);
    }

    /// The candidate with the number nearest to that of the worker that made the task ready, as its data are
    /// likely near; else the worker within reach nearest to the candidates.
    [[nodiscard]] WorkerId worker_to_wake(TaskId task, WorkerId, WorkerId, int,
                                          IdleWorkers const& idle) const override {
        WorkerId const candidate = nearest(idle, ranges_[task].candidates, by_[task]);
        return candidate != any_worker ? candidate : nearest(idle, ranges_[task].reach, by_[task]);
    }

  private:
    /// A task within reach is taken instead of the worker's own task if its path to the end is longer by this
    /// factor.
    static constexpr double urgency = 1.1;

    // The idle worker of a range that is nearest in number to `wanted`.
    static WorkerId nearest(IdleWorkers const& idle, Candidates range, WorkerId wanted) {
        int const target = std::clamp(wanted, range.first, range.end - 1);
        WorkerId const above = idle.first_in({target, range.end}),
                       below = idle.last_in({range.first, target});
        if (above == any_worker || below == any_worker) return std::max(above, below);
        return above - target <= target - below ? above : below;
    }

    /// Heaps; node i has children 2i and 2i + 1, and the workers' leaves come last.
    using QueueTree = std::vector<std::vector<ReadyTask>>;

    void put(QueueTree& tree, Candidates range, ReadyTask ready) const {
        auto const put_at = [&](int node) {
            tree[node].push_back(ready);
            std::push_heap(tree[node].begin(), tree[node].end());
        };
        int first = range.first + workers_, end = range.end + workers_;
        for (; first < end; first /= 2, end /= 2) {
            if (first % 2 == 1) put_at(first++);
            if (end % 2 == 1) put_at(--end);
        }
    }

    [[nodiscard]] std::vector<ReadyTask>* best_for(QueueTree& tree, WorkerId worker) const {
        std::vector<ReadyTask>* best = nullptr;
        for (int node = worker + workers_; node > 0; node /= 2) {
            auto& queue = tree[node];
            while (!queue.empty() && taken_[queue.front().task]) {
                std::pop_heap(queue.begin(), queue.end());
                queue.pop_back();
            }
            if (!queue.empty() && (!best || best->front() < queue.front())) best = &queue;
        }
        return best;
    }

    TaskGraph const& graph_;
    std::vector<TaskRange> const& ranges_;
    int workers_;
    QueueTree by_candidates_;
    QueueTree by_reach_;       ///< Only tasks whose reach is wider than their candidates.
    std::vector<WorkerId> by_; ///< The worker that made each task ready.
    std::vector<bool> taken_;
};

/// The list schedule in which each task runs on its home. O(tasks log tasks). Error{internal} that names a
/// task whose home is not one of the workers.
inline StaticSchedule list_schedule(TaskGraph const& graph, int workers) {
    if (!graph.home.empty() && std::ssize(graph.home) != graph.num_tasks())
        throw Error(Status::internal, fmt::format("list schedule: there are {} homes for {} tasks",
                                                  graph.home.size(), graph.num_tasks()));
    std::vector<TaskRange> ranges;
    ranges.reserve(graph.num_tasks());
    for (TaskId task = 0; task < graph.num_tasks(); ++task) {
        WorkerId const home = graph.home_of(task);
        if (home < 0 || home >= workers)
            throw Error(Status::internal, fmt::format("list schedule: the home of task {} is worker {} of {}",
                                                      task, home, workers));
        ranges.push_back({{home, home + 1}, {home, home + 1}});
    }

    CandidateQueues queues(graph, ranges, workers);
    return simulate(graph, queues, workers);
}

} // namespace espalier
