#include "policies/stealing_policy.hpp"

#include <utility>

#include <fmt/format.h>

namespace espalier {

StealingPolicy::StealingPolicy(TaskGraph const& graph, PolicyMachine machine, int num_queues)
    : graph_(graph), machine_(std::move(machine)), queues_(std::make_unique<ReadyQueue[]>(num_queues)),
      accounts_(machine_.num_workers()) {
    for (TaskId task = 0; task < std::ssize(graph.home); ++task)
        if (graph.home[task] != any_worker && !machine_.has(graph.home[task]))
            throw Error(Status::internal,
                        fmt::format("scheduling policy: the home of task {} is worker {} of {}", task,
                                    graph.home[task], machine_.num_workers()));
}

WorkerId StealingPolicy::origin(TaskId task, WorkerId by) const {
    if (machine_.has(by)) return by;
    WorkerId const home = graph_.home_of(task);
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

std::optional<Steal> StealingPolicy::on_start(WorkerId worker) {
    Account& account = accounts_[worker];
    if (!account.last) return std::nullopt;
    int const distance = account.last->distance;
    ++account.steals;
    if (std::ssize(account.by_distance) <= distance) account.by_distance.resize(distance + 1, 0);
    ++account.by_distance[distance];
    return account.last;
}

std::int64_t StealingPolicy::steals(WorkerId worker) const {
    return machine_.has(worker) ? accounts_[worker].steals : 0;
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
