#include "simulation/deal_solve.hpp"

#include <utility>

namespace espalier {

namespace {

class SolveDealer {
  public:
    SolveDealer(SweepSchedule const& sweeps, MachineModel const& machine, std::vector<LocalPlan>& plans)
        : sweeps_(sweeps), all_(sweeps.tasks), machine_(machine), plans_(plans),
          local_(all_.tasks.size(), no_task) {}

    void run() {
        for (LocalPlan& plan : plans_) {
            plan.solve.forward_of_branch.assign(plan.partition.branches.size(), no_task);
            plan.solve.backward_of_branch = plan.solve.forward_of_branch;
            deal_contributors(plan);
        }
        for (TaskId t = 0; t < all_.graph.num_tasks(); ++t) deal_task(t);
        for (TaskId t = 0; t < all_.graph.num_tasks(); ++t) deal_successors(t);
    }

  private:
    [[nodiscard]] WorkerId thread(WorkerId worker) const {
        return worker == any_worker ? any_worker : machine_.thread_of(worker);
    }

    void deal_contributors(LocalPlan& plan) const {
        Contributors& own = plan.solve.contributors;
        for (BranchId u = 0; u < std::ssize(plan.number_of_branch); ++u) {
            auto const others = all_.contributors.of(plan.number_of_branch[u]);
            if (plan.process_of_branch[u] == plan.process)
                own.processes.insert(own.processes.end(), others.begin(), others.end());
            own.ptr.push_back(std::ssize(own.processes));
        }
    }

    void deal_task(TaskId t) {
        SolveTask one = all_.tasks[t];
        if (one.kind == SolveTaskKind::message) {
            ++plans_[one.peer].solve.num_events;
            return;
        }
        LocalPlan& plan = plans_[one.process];
        SolveTasks& to = plan.solve;
        one.branch = plan.find_branch(one.branch);
        local_[t] = static_cast<TaskId>(to.tasks.size());
        if (one.kind != SolveTaskKind::forward_rows && one.kind != SolveTaskKind::backward_rows)
            (is_forward(one.kind) ? to.forward_of_branch : to.backward_of_branch)[one.branch] = local_[t];
        to.tasks.push_back(one);
        to.graph.num_predecessors.push_back(all_.graph.num_predecessors[t]);
        to.graph.cost.push_back(all_.graph.cost[t]);
        to.graph.priority.push_back(all_.graph.priority[t]);
        to.graph.home.push_back(thread(all_.graph.home[t]));
        plan.solve_candidates.push_back(sweeps_.candidates[t]);
    }

    void deal_successors(TaskId t) {
        if (local_[t] == no_task) return;
        TaskGraph& own = plans_[all_.tasks[t].process].solve.graph;
        for (TaskId const next : all_.graph.successors_of(t))
            if (local_[next] != no_task) own.successors.push_back(local_[next]);
        own.successor_ptr.push_back(std::ssize(own.successors));
    }

    SweepSchedule const& sweeps_;
    SolveTasks const& all_;
    MachineModel const& machine_;
    std::vector<LocalPlan>& plans_;
    std::vector<TaskId> local_; // by task; no_task for a message
};

} // namespace

void deal_solve(SweepSchedule sweeps, MachineModel const& machine, std::vector<LocalPlan>& plans) {
    if (machine.processes > 1) return SolveDealer(sweeps, machine, plans).run();
    LocalPlan& only = plans.front();
    only.solve = std::move(sweeps.tasks);
    only.solve_candidates = std::move(sweeps.candidates);
}

} // namespace espalier
