#include "schedule/factor_plan.hpp"

#include <numeric>

namespace espalier {

double FactorPlan::total_cost() const {
    return std::accumulate(cblk_cost.begin(), cblk_cost.end(), 0.0);
}

FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model, int workers) {
    FactorPlan plan;
    plan.cblk_cost = cblk_costs(structure, model);
    plan.partition = cut_branches(structure, plan.cblk_cost, workers);
    plan.factor = build_factor_tasks(structure, plan.partition, model);
    plan.factor_schedule = list_schedule(plan.factor.graph, workers);

    plan.owner_of_cblk.resize(structure.cblks.size());
    auto worker_of_branch = [&](std::size_t branch) {
        return plan.factor_schedule
            .worker_of_task[static_cast<std::size_t>(plan.factor.factor_of_branch[branch])];
    };
    for (std::size_t k = 0; k < structure.cblks.size(); ++k)
        plan.owner_of_cblk[k] = worker_of_branch(static_cast<std::size_t>(plan.partition.branch_of_cblk[k]));

    // A solve is bound by memory: each branch stays with the worker that has its panels.
    plan.solve = build_solve_tasks(structure, plan.partition);
    std::size_t const count = plan.partition.branches.size();
    for (std::size_t u = 0; u < count; ++u)
        plan.solve.home[u] = plan.solve.home[count + u] = worker_of_branch(u);
    plan.solve_schedule = list_schedule(plan.solve, workers, true);
    return plan;
}

} // namespace espalier
