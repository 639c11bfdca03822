#include "schedule/process_policies.hpp"

#include <algorithm>

namespace espalier {

std::unique_ptr<Policy> make_factor_policy(PolicySettings const& settings, TaskGraph const& graph,
                                           MachineModel const& machine,
                                           std::vector<WorkerRange> const& candidates) {
    std::vector<int> nodes;
    for (int t = 0; t < machine.threads; ++t) nodes.push_back(machine.node_of(t));
    return make_policy(settings, graph, PolicyMachine(nodes, machine.node_distances),
                       {.lists = nullptr, .candidates = &candidates});
}

std::vector<WorkerRange> candidate_threads(FactorTasks const& tasks, BranchPartition const& partition,
                                           Mapping const& mapping) {
    std::vector<WorkerRange> ranges;
    ranges.reserve(tasks.tasks.size());
    for (FactorTask const& task : tasks.tasks) {
        CblkId const k = task.target != no_cblk
                             ? task.target
                             : partition.branches[static_cast<std::size_t>(task.source)].root;
        Candidates const workers = mapping.workers_in(k, task.process);
        int const offset = task.process * mapping.threads;
        ranges.push_back({workers.first - offset, workers.end - offset});
    }
    return ranges;
}

ProcessPolicies::ProcessPolicies(PolicySettings const& settings, FactorTasks const& tasks,
                                 MachineModel const& machine, std::vector<WorkerRange> const& candidates)
    : tasks_(tasks), machine_(machine), target_(tasks.tasks.size(), any_worker) {
    graph_.num_predecessors = tasks.graph.num_predecessors;
    graph_.priority = tasks.graph.priority;
    graph_.cost = tasks.graph.cost;
    graph_.home = tasks.graph.home;
    for (WorkerId& home : graph_.home)
        if (home != any_worker) home %= machine.threads;
    // A policy never sees the tasks of other processes; their ranges would only be more queues to look into.
    std::vector<WorkerRange> own(candidates.size());
    for (int p = 0; p < machine.processes; ++p) {
        for (std::size_t t = 0; t < own.size(); ++t)
            own[t] = tasks.tasks[t].process == p ? candidates[t] : WorkerRange{};
        policies_.push_back(make_factor_policy(settings, graph_, machine, own));
    }
}

void ProcessPolicies::push(TaskId task, WorkerId by) {
    int const process = process_of(task);
    WorkerId const first = first_worker(process);
    // What a message makes ready is pushed by its home, as the first tasks are.
    bool const by_own = first <= by && by < first + machine_.threads;
    WorkerId const home = graph_.home[static_cast<std::size_t>(task)];
    WorkerId const target = policy_of(process).push(task, by_own ? by - first : std::max(home, WorkerId{0}));
    target_[static_cast<std::size_t>(task)] = target == any_worker ? any_worker : target + first;
}

WorkerId ProcessPolicies::choose_idle(TaskId task, std::set<WorkerId> const& idle) {
    int const process = process_of(task);
    WorkerId const first = first_worker(process), end = first + machine_.threads;
    WorkerId const target = target_[static_cast<std::size_t>(task)];
    if (target != any_worker && idle.contains(target)) return target;
    // From the home on, as the runtime does.
    WorkerId const home = first + std::max(graph_.home[static_cast<std::size_t>(task)], WorkerId{0});
    for (auto const& [begin, past] : {std::pair{home, end}, std::pair{first, home}})
        for (auto at = idle.lower_bound(begin); at != idle.end() && *at < past; ++at)
            if (policy_of(process).serves(*at - first, task)) return *at;
    return any_worker;
}

TaskId ProcessPolicies::pop(WorkerId worker) {
    int const process = machine_.process_of(worker);
    return policy_of(process).pop(worker - first_worker(process));
}

std::int64_t ProcessPolicies::steals(WorkerId worker) const {
    int const process = machine_.process_of(worker);
    return policy_of(process).steals(worker - first_worker(process));
}

std::optional<Steal> ProcessPolicies::last_steal(WorkerId worker) const {
    int const process = machine_.process_of(worker);
    auto steal = policy_of(process).last_steal(worker - first_worker(process));
    if (steal && steal->victim != any_worker) steal->victim += first_worker(process);
    return steal;
}

std::vector<std::int64_t> ProcessPolicies::steals_by_distance() const {
    std::vector<std::int64_t> sum;
    for (auto const& policy : policies_) {
        std::vector<std::int64_t> const one = policy->steals_by_distance();
        sum.resize(std::max(sum.size(), one.size()));
        for (std::size_t d = 0; d < one.size(); ++d) sum[d] += one[d];
    }
    return sum;
}

} // namespace espalier
