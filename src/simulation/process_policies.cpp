#include "simulation/process_policies.hpp"

#include <algorithm>

namespace espalier {

std::unique_ptr<Policy> make_factor_policy(ScheduleSettings const& settings, TaskGraph const& graph,
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
        CblkId const k = task.target != no_cblk ? task.target : partition.branches[task.source].root;
        Candidates const workers = mapping.workers_in(k, task.process);
        int const offset = task.process * mapping.threads;
        ranges.push_back({workers.first - offset, workers.end - offset});
    }
    return ranges;
}

ProcessPolicies::ProcessPolicies(ScheduleSettings const& settings, FactorTasks const& tasks,
                                 MachineModel const& machine, std::vector<WorkerRange> const& candidates)
    : tasks_(tasks), threads_(machine.threads), local_(tasks.tasks.size()) {
    for (int p = 0; p < machine.processes; ++p) processes_.push_back(std::make_unique<Process>());
    for (std::size_t t = 0; t < tasks.tasks.size(); ++t) {
        Process& process = *processes_[tasks.tasks[t].process];
        local_[t] = process.graph.num_tasks();
        process.global.push_back(static_cast<TaskId>(t));
        process.graph.num_predecessors.push_back(tasks.graph.num_predecessors[t]);
        process.graph.priority.push_back(tasks.graph.priority[t]);
        WorkerId const home = tasks.graph.home[t];
        process.graph.home.push_back(home == any_worker ? any_worker : home % threads_);
    }
    std::vector<WorkerRange> own;
    for (int p = 0; p < machine.processes; ++p) {
        Process& process = *processes_[p];
        own.clear();
        for (TaskId const t : process.global) own.push_back(candidates[t]);
        process.policy = make_factor_policy(settings, process.graph, machine, own);
        process.dispatcher.emplace(*process.policy, process.graph, p * threads_, threads_);
    }
}

void ProcessPolicies::push(TaskId task, WorkerId by) {
    dispatcher_of(task).push(local_[task], by);
}

WorkerId ProcessPolicies::choose_idle(TaskId task, std::set<WorkerId> const& idle) {
    return dispatcher_of(task).choose_idle(local_[task], idle);
}

TaskId ProcessPolicies::pop(WorkerId worker) {
    Process& process = process_at(worker);
    TaskId const task = process.dispatcher->pop(worker);
    return task == no_task ? no_task : process.global[task];
}

void ProcessPolicies::took(WorkerId worker) {
    process_at(worker).dispatcher->took(worker);
}

std::int64_t ProcessPolicies::steals(WorkerId worker) const {
    return process_at(worker).policy->steals(worker % threads_);
}

std::optional<Steal> ProcessPolicies::last_steal(WorkerId worker) const {
    return process_at(worker).dispatcher->last_steal(worker);
}

std::vector<std::int64_t> ProcessPolicies::steals_by_distance() const {
    std::vector<std::int64_t> sum;
    for (auto const& process : processes_) {
        std::vector<std::int64_t> const one = process->policy->steals_by_distance();
        sum.resize(std::max(sum.size(), one.size()));
        for (std::size_t d = 0; d < one.size(); ++d) sum[d] += one[d];
    }
    return sum;
}

} // namespace espalier
