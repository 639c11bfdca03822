// The numbers of the tasks and messages of one sweep in a trace, and their dependencies. All processes use
// the same numbers. With B branches in the plan of all processes, P processes and at most T tasks per
// process, the numbers from the first one on are
//
//     T p + t                    task t of process p
//     T P + B g + b              the message with the sum of process g for branch b
//     T P + B P + B g + b        the message with the solution of branch b for process g
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/factor_plan.hpp"
#include "trace/record.hpp"

namespace espalier {

class SweepNumbers {
  public:
    SweepNumbers() = default;
    /// `first` is the first of count(plan) numbers. The plan must outlive this.
    SweepNumbers(FactorPlan const& plan, std::int64_t first)
        : plan_(&plan), branches_(plan.branches), processes_(plan.machine.processes),
          first_task_(first + plan.solve_tasks * plan.process),
          first_message_(first + plan.solve_tasks * processes_) {}
    [[nodiscard]] static std::int64_t count(FactorPlan const& plan) {
        std::int64_t const processes = plan.machine.processes;
        return processes * (plan.solve_tasks + (processes == 1 ? 0 : 2 * plan.branches));
    }

    /// A task of this process. Branches are those of its plan.
    [[nodiscard]] std::int64_t task(TaskId task) const { return first_task_ + task; }
    [[nodiscard]] std::int64_t sum(std::int32_t contributor, BranchId branch) const {
        return first_message_ + branches_ * contributor + plan_->number_of(branch);
    }
    [[nodiscard]] std::int64_t solution(std::int32_t contributor, BranchId branch) const {
        return sum(processes_ + contributor, branch);
    }
    /// Dependencies of the tasks of this process on each other and on messages, and of messages on tasks.
    [[nodiscard]] std::vector<trace::Dependency> dependencies() const {
        SolveTasks const& solve = plan_->solve;
        TaskGraph const& graph = solve.graph;
        std::vector<trace::Dependency> edges;
        edges.reserve(graph.successors.size() + 2 * solve.contributors.processes.size());
        for (TaskId t = 0; t < graph.num_tasks(); ++t) {
            for (TaskId const next : graph.successors_of(t)) edges.push_back({task(t), task(next)});
            BranchId const branch = solve.tasks[t].branch;
            switch (solve.tasks[t].kind) {
            case SolveTaskKind::send_sum:
                edges.push_back({task(t), sum(plan_->process, branch)});
                break;
            case SolveTaskKind::receive_solution:
                edges.push_back({solution(plan_->process, branch), task(t)});
                break;
            case SolveTaskKind::forward:
                for (std::int32_t const process : solve.contributors.of(branch))
                    edges.push_back({sum(process, branch), task(t)});
                break;
            case SolveTaskKind::backward:
                for (std::int32_t const process : solve.contributors.of(branch))
                    edges.push_back({task(t), solution(process, branch)});
                break;
            case SolveTaskKind::forward_rows:
            case SolveTaskKind::backward_rows:
            case SolveTaskKind::message: // occurs only in the plan of all processes
                break;
            }
        }
        return edges;
    }

  private:
    FactorPlan const* plan_ = nullptr;
    std::int64_t branches_ = 0;
    std::int32_t processes_ = 1;
    std::int64_t first_task_ = 0;
    std::int64_t first_message_ = 0;
};

} // namespace espalier
