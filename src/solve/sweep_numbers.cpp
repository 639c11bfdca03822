#include "solve/sweep_numbers.hpp"

namespace espalier {

SweepNumbers::SweepNumbers(FactorPlan const& plan, std::int64_t first)
    : plan_(&plan), branches_(plan.branches), processes_(plan.machine.processes),
      first_task_(first + 2 * branches_ * plan.process), first_message_(first + 2 * branches_ * processes_) {}

std::int64_t SweepNumbers::count(FactorPlan const& plan) {
    std::int64_t const processes = plan.machine.processes;
    return (processes == 1 ? 2 : 4) * processes * plan.branches;
}

std::vector<trace::Dependency> SweepNumbers::dependencies() const {
    SolveTasks const& solve = plan_->solve;
    TaskGraph const& graph = solve.graph;
    std::vector<trace::Dependency> edges;
    edges.reserve(graph.successors.size() + 2 * solve.contributors.processes.size());
    for (TaskId t = 0; t < graph.num_tasks(); ++t) {
        for (TaskId const next : graph.successors_of(t)) edges.push_back({task(t), task(next)});
        auto const [kind, branch] = solve.tasks[t];
        switch (kind) {
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
        }
    }
    return edges;
}

} // namespace espalier
