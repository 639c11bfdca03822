// The policies of the runtime in a simulation of several processes: each process has its own policy object,
// as in the run, which numbers the threads of the process 0 .. threads - 1.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "mapping/machine_model.hpp"
#include "mapping/proportional.hpp"
#include "policies/make_policy.hpp"
#include "tasks/factor_tasks.hpp"

namespace espalier {

/// The policy of one process for the tasks of a factorization or of a solve. `graph`, whose homes are threads
/// of the process, must outlive it; `candidates`, by task, are threads of the process, too.
inline std::unique_ptr<Policy> make_process_policy(ScheduleSettings const& settings, TaskGraph const& graph,
                                                   MachineModel const& machine,
                                                   std::vector<WorkerRange> const& candidates) {
    return make_policy(settings, graph, PolicyMachine(machine.nodes_of_threads(), machine.node_distances),
                       {.lists = nullptr, .candidates = &candidates});
}

/// For each task the threads of its process that are candidates for the cblk it writes. `tasks` are
/// FactorTasks or SolveTasks.
template <class Tasks> std::vector<WorkerRange>
candidate_threads(Tasks const& tasks, BranchPartition const& partition, Mapping const& mapping) {
    std::vector<WorkerRange> ranges;
    ranges.reserve(tasks.tasks.size());
    for (auto const& task : tasks.tasks) {
        Candidates const workers = mapping.workers_in(cblk_of(task, partition), task.process);
        int const offset = task.process * mapping.threads;
        ranges.push_back({workers.first - offset, workers.end - offset});
    }

    return ranges;
}

/// One policy for all workers, which calls that of the task's or worker's process.
class ProcessPolicies : public Policy {
  public:
    /// `tasks` are FactorTasks or SolveTasks.
    template <class Tasks>
    ProcessPolicies(ScheduleSettings const& settings, Tasks const& tasks, MachineModel const& machine,
                    std::vector<WorkerRange> const& candidates)
        : threads_(machine.threads), processes_(machine.processes) {
        process_of_.reserve(tasks.tasks.size());
        for (auto const& task : tasks.tasks) process_of_.push_back(task.process);
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
            process.policy = make_process_policy(settings, process.graph, machine, own);
        }
    }

    WorkerId push(TaskId task, WorkerId by) override {
        return worker(process_of(task), policy_of(task).push(local_[task], thread(by)));
    }

    TaskId pop(WorkerId worker) override {
        TaskId const task = policy_at(worker).pop(thread(worker));
        return task == no_task ? no_task : processes_[worker / threads_].global[task];
    }

    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override {
        return worker / threads_ == process_of(task) && policy_of(task).may_run(thread(worker), local_[task]);
    }

    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override {
        return worker / threads_ == process_of(task) &&
               policy_of(task).in_own_queue(thread(worker), local_[task]);
    }

    std::optional<Steal> on_start(WorkerId worker) override {
        auto steal = policy_at(worker).on_start(thread(worker));
        if (steal) steal->victim = this->worker(worker / threads_, steal->victim);
        return steal;
    }

    [[nodiscard]] WorkerId worker_to_wake(TaskId task, WorkerId target, WorkerId home, int,
                                          IdleWorkers const& idle) const override {
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

    [[nodiscard]] std::int64_t steals(WorkerId worker) const override {
        return policy_at(worker).steals(thread(worker));
    }

    [[nodiscard]] std::vector<std::int64_t> steals_by_distance() const override {
        std::vector<std::int64_t> sum;
        for (Process const& process : processes_) {
            std::vector<std::int64_t> const one = process.policy->steals_by_distance();
            sum.resize(std::max(sum.size(), one.size()));
            for (std::size_t d = 0; d < one.size(); ++d) sum[d] += one[d];
        }
        return sum;
    }

  private:
    /// Tasks and threads by the process's own numbers, so that a process with few tasks needs little memory.
    struct Process {
        TaskGraph graph; ///< The part that policies read.
        std::vector<TaskId> global;
        std::unique_ptr<Policy> policy;
    };
    [[nodiscard]] int process_of(TaskId task) const { return process_of_[task]; }
    [[nodiscard]] Policy& policy_of(TaskId task) const { return *processes_[process_of(task)].policy; }
    [[nodiscard]] Policy& policy_at(WorkerId worker) const { return *processes_[worker / threads_].policy; }
    /// `worker` is a thread of the task's process, or any_worker.
    [[nodiscard]] WorkerId thread(WorkerId worker) const {
        return worker == any_worker ? any_worker : worker % threads_;
    }

    [[nodiscard]] WorkerId worker(int process, WorkerId thread) const {
        return thread == any_worker ? any_worker : process * threads_ + thread;
    }

    std::vector<std::int32_t> process_of_; ///< By task.
    int threads_;                          ///< Threads of each process.
    std::vector<TaskId> local_;            ///< The number of each task in its process.
    std::vector<Process> processes_;
};

} // namespace espalier
