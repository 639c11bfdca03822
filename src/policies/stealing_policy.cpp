#include "policies/stealing_policy.hpp"

#include <string>
#include <utility>

namespace espalier {

StealingPolicy::StealingPolicy(TaskGraph const& graph, PolicyMachine machine, int num_queues)
    : graph_(graph), machine_(std::move(machine)), queues_(std::make_unique<ReadyQueue[]>(num_queues)),
      accounts_(static_cast<std::size_t>(machine_.num_workers())) {
    for (std::size_t task = 0; task < graph.home.size(); ++task)
        if (graph.home[task] != any_worker && !machine_.has(graph.home[task]))
            throw Error(Status::internal, "scheduling policy: the home of task " + std::to_string(task) +
                                              " is worker " + std::to_string(graph.home[task]) + " of " +
                                              std::to_string(machine_.num_workers()));
}

WorkerId StealingPolicy::origin(TaskId task, WorkerId by) const {
    if (machine_.has(by)) return by;
    WorkerId const home = home_of(task);
    return home == any_worker ? 0 : home;
}

TaskId StealingPolicy::take(WorkerId worker, int queue) {
    TaskId const task = queues_[queue].pop();
    if (task != no_task) accounts_[worker].last.reset();
    return task;
}

TaskId StealingPolicy::steal(WorkerId worker, int queue, WorkerId victim, int distance) {
    TaskId const task = queues_[queue].pop();
    if (task != no_task) accounts_[worker].last = Steal{victim, distance};
    return task;
}

void StealingPolicy::took(WorkerId worker) {
    Account& account = accounts_[worker];
    if (!account.last) return;
    int const distance = account.last->distance;
    ++account.steals;
    if (account.by_distance.size() <= static_cast<std::size_t>(distance))
        account.by_distance.resize(static_cast<std::size_t>(distance) + 1, 0);
    ++account.by_distance[distance];
}

std::int64_t StealingPolicy::steals(WorkerId worker) const {
    return machine_.has(worker) ? accounts_[worker].steals : 0;
}

std::optional<Steal> StealingPolicy::last_steal(WorkerId worker) const {
    return machine_.has(worker) ? accounts_[worker].last : std::nullopt;
}

std::vector<std::int64_t> StealingPolicy::steals_by_distance() const {
    std::vector<std::int64_t> sum{0};
    for (Account const& account : accounts_) {
        if (account.by_distance.size() > sum.size()) sum.resize(account.by_distance.size(), 0);
        for (std::size_t d = 0; d < account.by_distance.size(); ++d) sum[d] += account.by_distance[d];
    }
    return sum;
}

} // namespace espalier
