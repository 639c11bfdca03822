#include "schedule/factor_plan.hpp"

#include <numeric>
#include <utility>

#include "runtime/static_policy.hpp"
#include "schedule/process_policies.hpp"

namespace espalier {

double FactorPlan::total_cost() const {
    return std::accumulate(cblk_cost.begin(), cblk_cost.end(), 0.0);
}

std::unique_ptr<Policy> FactorPlan::make_policy() const {
    if (policy.kind == SchedulePolicy::static_order)
        return std::make_unique<StaticPolicy>(factor_schedule.lists, factor.graph.num_tasks());
    return make_factor_policy(policy, factor.graph, machine, candidates);
}

FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model, int workers,
                            std::vector<int> const& node_of_worker) {
    PlanOptions options;
    options.workers = workers;
    options.node_of_worker = node_of_worker;
    return make_factor_plan(structure, model, options);
}

FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model,
                            PlanOptions const& options) {
    MachineModel machine;
    machine.threads = options.workers;
    machine.node_of_thread = options.node_of_worker;
    machine.node_distances = options.node_distances;
    ScheduleOptions settings;
    settings.policy = options.policy;
    settings.split = options.split;
    Schedule schedule = simulate_schedule(structure, model, machine, settings);
    FactorPlan plan;
    plan.machine = std::move(machine);
    plan.policy = options.policy;
    plan.partition = std::move(schedule.partition);
    plan.cblk_cost = std::move(schedule.cblk_cost);
    plan.groups = std::move(schedule.groups);
    plan.candidates = std::move(schedule.candidates);
    plan.factor = std::move(schedule.tasks);
    plan.mapping = std::move(schedule.mapping);
    plan.owner_of_cblk = std::move(schedule.owner_of_cblk);
    plan.factor_schedule = {std::move(schedule.run.lists), std::move(schedule.run.worker_of_task),
                            schedule.run.makespan};
    plan.start = std::move(schedule.run.start);
    plan.end = std::move(schedule.run.end);

    // A solve is bound by memory: each branch stays with the worker that has its panels.
    plan.solve = build_solve_tasks(structure, plan.partition);
    std::size_t const count = plan.partition.branches.size();
    for (std::size_t u = 0; u < count; ++u)
        plan.solve.home[u] = plan.solve.home[count + u] =
            plan.owner_of_cblk[static_cast<std::size_t>(plan.partition.branches[u].root)];
    plan.solve_schedule = list_schedule(plan.solve, options.workers, true);
    return plan;
}

} // namespace espalier
