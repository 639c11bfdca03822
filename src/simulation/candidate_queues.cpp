#include "simulation/candidate_queues.hpp"

#include <algorithm>
#include <iterator>

namespace espalier {

namespace {

constexpr double urgency = 1.1; // how much longer the way to the end is from a task that goes before own ones

// The idle worker of a range that is nearest in number to `wanted`.
WorkerId nearest(std::set<WorkerId> const& idle, Candidates range, WorkerId wanted) {
    int const target = std::clamp(wanted, range.first, range.end - 1);
    auto const above = idle.lower_bound(target);
    bool const has_above = above != idle.end() && *above < range.end;
    bool const has_below = above != idle.begin() && *std::prev(above) >= range.first;
    if (has_above && has_below)
        return *above - target <= target - *std::prev(above) ? *above : *std::prev(above);
    return has_above ? *above : has_below ? *std::prev(above) : any_worker;
}

} // namespace

CandidateQueues::CandidateQueues(TaskGraph const& graph, std::vector<TaskRange> const& ranges, int workers)
    : graph_(graph), ranges_(ranges), workers_(workers),
      by_candidates_(2 * static_cast<std::size_t>(workers)), by_reach_(by_candidates_.size()),
      by_(static_cast<std::size_t>(graph.num_tasks()), any_worker),
      taken_(static_cast<std::size_t>(graph.num_tasks()), false) {}

void CandidateQueues::push(TaskId task, WorkerId by) {
    auto const t = static_cast<std::size_t>(task);
    TaskRange const& range = ranges_[t];
    by_[t] = by;
    put(by_candidates_, range.candidates, {graph_.priority[t], task});
    if (range.reach != range.candidates) put(by_reach_, range.reach, {graph_.priority[t], task});
}

void CandidateQueues::put(QueueTree& tree, Candidates range, Entry entry) const {
    auto const put_at = [&](int node) {
        auto& queue = tree[node];
        queue.push_back(entry);
        std::push_heap(queue.begin(), queue.end());
    };
    int first = range.first + workers_, end = range.end + workers_;
    for (; first < end; first /= 2, end /= 2) {
        if (first % 2 == 1) put_at(first++);
        if (end % 2 == 1) put_at(--end);
    }
}

WorkerId CandidateQueues::choose_idle(TaskId task, std::set<WorkerId> const& idle) {
    auto const t = static_cast<std::size_t>(task);
    WorkerId const candidate = nearest(idle, ranges_[t].candidates, by_[t]);
    return candidate != any_worker ? candidate : nearest(idle, ranges_[t].reach, by_[t]);
}

std::vector<CandidateQueues::Entry>* CandidateQueues::best_for(QueueTree& tree, WorkerId worker) const {
    std::vector<Entry>* best = nullptr;
    for (auto node = static_cast<std::size_t>(worker + workers_); node > 0; node /= 2) {
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
    std::vector<Entry>* best = best_for(by_candidates_, worker);
    auto* const other = best_for(by_reach_, worker);
    if (other && (!best || other->front().priority > urgency * best->front().priority)) best = other;
    if (!best) return no_task;
    TaskId const task = best->front().task;
    taken_[task] = true;
    return task;
}

} // namespace espalier
