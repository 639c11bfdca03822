#include "simulation/candidate_queues.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace espalier {

namespace {

constexpr double urgency =
    1.1; // ratio of the paths to the end from which a task goes before the worker's own

// The idle worker of a range that is nearest in number to `wanted`.
WorkerId nearest(IdleWorkers const& idle, Candidates range, WorkerId wanted) {
    int const target = std::clamp(wanted, range.first, range.end - 1);
    WorkerId const above = idle.first_in({target, range.end}), below = idle.last_in({range.first, target});
    if (above == any_worker || below == any_worker) return std::max(above, below);
    return above - target <= target - below ? above : below;
}

} // namespace

CandidateQueues::CandidateQueues(TaskGraph const& graph, std::vector<TaskRange> const& ranges, int workers)
    : graph_(graph), ranges_(ranges), workers_(workers), by_candidates_(2 * workers), by_reach_(2 * workers),
      by_(graph.num_tasks(), any_worker), taken_(graph.num_tasks(), false) {}

WorkerId CandidateQueues::push(TaskId task, WorkerId by) {
    TaskRange const& range = ranges_[task];
    by_[task] = by;
    put(by_candidates_, range.candidates, {graph_.priority[task], task});
    if (range.reach != range.candidates) put(by_reach_, range.reach, {graph_.priority[task], task});
    return any_worker;
}

void CandidateQueues::put(QueueTree& tree, Candidates range, ReadyTask ready) const {
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

WorkerId CandidateQueues::worker_to_wake(TaskId task, WorkerId, WorkerId, int,
                                         IdleWorkers const& idle) const {
    WorkerId const candidate = nearest(idle, ranges_[task].candidates, by_[task]);
    return candidate != any_worker ? candidate : nearest(idle, ranges_[task].reach, by_[task]);
}

std::vector<ReadyTask>* CandidateQueues::best_for(QueueTree& tree, WorkerId worker) const {
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

TaskId CandidateQueues::pop(WorkerId worker) {
    std::vector<ReadyTask>* best = best_for(by_candidates_, worker);
    auto* const other = best_for(by_reach_, worker);
    if (other && (!best || other->front().priority > urgency * best->front().priority)) best = other;
    if (!best) return no_task;
    TaskId const task = best->front().task;
    taken_[task] = true;
    return task;
}

StaticSchedule list_schedule(TaskGraph const& graph, int workers) {
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
