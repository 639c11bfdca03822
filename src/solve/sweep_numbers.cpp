#include "solve/sweep_numbers.hpp"

namespace espalier {

SweepNumbers::SweepNumbers(FactorPlan const& plan, std::int64_t first)
    : plan_(&plan), branches_(std::ssize(plan.partition.branches)), processes_(plan.machine.processes),
      first_task_(first + 2 * branches_ * plan.process), first_message_(first + 2 * branches_ * processes_) {}

std::int64_t SweepNumbers::count(FactorPlan const& plan) {
    std::int64_t const processes = plan.machine.processes;
    return (processes == 1 ? 2 : 4) * processes * std::ssize(plan.partition.branches);
}

std::vector<trace::Dependency> SweepNumbers::dependencies() const {
    SolveTasks const& solve = plan_->solve;
    TaskGraph const& graph = solve.graph;
    std::vector<trace::Dependency> edges;
    edges.reserve(graph.successors.size() + 2 * solve.givers.size());
    for (TaskId t = 0; t < graph.num_tasks(); ++t) {
        auto const at = static_cast<std::size_t>(t);
        for (Offset e = graph.successor_ptr[at]; e < graph.successor_ptr[at + 1]; ++e)
            edges.push_back({task(t), task(graph.successors[e])});
        auto const [kind, branch] = solve.tasks[at];
        switch (kind) {
        case SolveTaskKind::give:
            edges.push_back({task(t), given(plan_->process, branch)});
            break;
        case SolveTaskKind::take:
            edges.push_back({solution(plan_->process, branch), task(t)});
            break;
        case SolveTaskKind::forward:
            for (std::int32_t const giver : solve.givers_of(branch))
                edges.push_back({given(giver, branch), task(t)});
            break;
        case SolveTaskKind::backward:
            for (std::int32_t const giver : solve.givers_of(branch))
                edges.push_back({task(t), solution(giver, branch)});
            break;
        }
    }
    return edges;
}

} // namespace espalier
