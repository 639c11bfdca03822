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
        Candidates const workers = mapping.workers_in(cblk_of(task, partition), task.process);
        int const offset = task.process * mapping.threads;
        ranges.push_back({workers.first - offset, workers.end - offset});
    }
    return ranges;
}

ProcessPolicies::ProcessPolicies(ScheduleSettings const& settings, FactorTasks const& tasks,
                                 MachineModel const& machine, std::vector<WorkerRange> const& candidates)
    : tasks_(tasks), threads_(machine.threads), processes_(machine.processes) {
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t) {
        Process& process = processes_[process_of(t)];
        local_.push_back(process.graph.num_tasks());
        process.global.push_back(t);
        process.graph.num_predecessors.push_back(tasks.graph.num_predecessors[t]);
        process.graph.priority.push_back(tasks.graph.priority[t]);
        process.graph.home.push_back(thread(tasks.graph.home[t]));
    }
    for (Process& process : processes_) {
        std::vector<WorkerRange> own;
        for (TaskId const t : process.global) own.push_back(candidates[t]);
        process.policy = make_factor_policy(settings, process.graph, machine, own);
    }
}

WorkerId ProcessPolicies::push(TaskId task, WorkerId by) {
    return worker(process_of(task), policy_of(task).push(local_[task], thread(by)));
}

TaskId ProcessPolicies::pop(WorkerId worker) {
    TaskId const task = policy_at(worker).pop(thread(worker));
    return task == no_task ? no_task : processes_[worker / threads_].global[task];
}

bool ProcessPolicies::may_run(WorkerId worker, TaskId task) const {
    return worker / threads_ == process_of(task) && policy_of(task).may_run(thread(worker), local_[task]);
}

bool ProcessPolicies::in_own_queue(WorkerId worker, TaskId task) const {
    return worker / threads_ == process_of(task) &&
           policy_of(task).in_own_queue(thread(worker), local_[task]);
}

std::optional<Steal> ProcessPolicies::on_start(WorkerId worker) {
    auto steal = policy_at(worker).on_start(thread(worker));
    if (steal) steal->victim = this->worker(worker / threads_, steal->victim);
    return steal;
}

WorkerId ProcessPolicies::worker_to_wake(TaskId task, WorkerId target, WorkerId home, int,
                                         IdleWorkers const& idle) const {
    struct IdleThreads : IdleWorkers {
        IdleThreads(IdleWorkers const& all, int first) : all_(all), first_(first) {}
        [[nodiscard]] WorkerId first_in(WorkerRange range) const override {
            return thread(all_.first_in(shift(range)));
        }
        [[nodiscard]] WorkerId last_in(WorkerRange range) const override {
            return thread(all_.last_in(shift(range)));
        }

      private:
        [[nodiscard]] WorkerRange shift(WorkerRange range) const {
            return {range.first + first_, range.end + first_};
        }
        [[nodiscard]] WorkerId thread(WorkerId worker) const {
            return worker == any_worker ? any_worker : worker - first_;
        }
        IdleWorkers const& all_;
        int first_;
    };
    int const process = process_of(task);
    IdleThreads const threads(idle, process * threads_);
    return worker(process, policy_of(task).worker_to_wake(local_[task], thread(target), thread(home),
                                                          threads_, threads));
}

std::int64_t ProcessPolicies::steals(WorkerId worker) const {
    return policy_at(worker).steals(thread(worker));
}

std::vector<std::int64_t> ProcessPolicies::steals_by_distance() const {
    std::vector<std::int64_t> sum;
    for (Process const& process : processes_) {
        std::vector<std::int64_t> const one = process.policy->steals_by_distance();
        sum.resize(std::max(sum.size(), one.size()));
        for (std::size_t d = 0; d < one.size(); ++d) sum[d] += one[d];
    }
    return sum;
}

} // namespace espalier
