#include "simulation/factor_plan.hpp"

#include <utility>

#include "policies/make_policy.hpp"
#include "policies/static_policy.hpp"
#include "simulation/process_policies.hpp"

namespace espalier {

namespace {

// Deals the tasks of a schedule out to the processes.
class Dealer {
  public:
    explicit Dealer(Schedule const& schedule)
        : schedule_(schedule), parts_(static_cast<std::size_t>(schedule.machine.processes)),
          local_id_(schedule.tasks.tasks.size(), no_task) {}

    std::vector<LocalPlan> run() {
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            parts_[p].process = static_cast<std::int32_t>(p);
            parts_[p].factor.factor_of_branch.assign(schedule_.partition.branches.size(), no_task);
        }
        deal_blocks();
        for (std::size_t t = 0; t < local_id_.size(); ++t) deal_task(t);
        for (std::size_t t = 0; t < local_id_.size(); ++t) deal_successors(t);
        deal_branches_and_owners();
        deal_lists();
        return std::move(parts_);
    }

  private:
    [[nodiscard]] LocalPlan& part(std::int32_t process) { return parts_[process]; }
    [[nodiscard]] FactorTask const& task(std::size_t t) const { return schedule_.tasks.tasks[t]; }
    [[nodiscard]] WorkerId thread(WorkerId worker) const {
        return worker == any_worker ? any_worker : schedule_.machine.thread_of(worker);
    }

    // Each block goes to its sender and to its receiver.
    void deal_blocks() {
        FanInBlocks const& all = schedule_.tasks.fan_in;
        for (FanInBlock block : all.blocks) {
            block.number = static_cast<std::int32_t>(part(block.to).incoming.size());
            at_sender_.push_back(add_block(block, all, part(block.from), &LocalPlan::outgoing));
            at_receiver_.push_back(add_block(block, all, part(block.to), &LocalPlan::incoming));
        }
    }
    std::int32_t add_block(FanInBlock block, FanInBlocks const& all, LocalPlan& to,
                           std::vector<std::int32_t> LocalPlan::*list) {
        FanInBlocks& own = to.factor.fan_in;
        auto const number = static_cast<std::int32_t>(own.blocks.size());
        auto const rows = all.rows_of(block);
        block.first_rows = static_cast<Offset>(own.rows.size());
        own.rows.insert(own.rows.end(), rows.begin(), rows.end());
        block.end_rows = static_cast<Offset>(own.rows.size());
        own.blocks.push_back(block);
        (to.*list).push_back(number);
        return number;
    }

    void deal_task(std::size_t t) {
        FactorTask one = task(t);
        if (one.kind == TaskKind::message) return number_message(t);
        TaskGraph const& graph = schedule_.tasks.graph;
        LocalPlan& to = part(one.process);
        auto const id = static_cast<TaskId>(to.factor.tasks.size());
        local_id_[t] = id;
        if (one.block != no_block) {
            auto const number = static_cast<std::size_t>(one.block);
            one.block = (one.kind == TaskKind::fan_in ? at_receiver_ : at_sender_)[number];
            if (one.kind == TaskKind::fan_in) {
                FanInBlock& block = to.factor.fan_in.blocks[one.block];
                if (schedule_.tasks.fan_in.blocks[number].first_task == static_cast<TaskId>(t))
                    block.first_task = id;
                ++to.num_events; // the message was its one predecessor that is no task now
            }
        }
        to.factor.tasks.push_back(one);
        to.number_of_task.push_back(static_cast<TaskId>(t));
        to.factor.graph.num_predecessors.push_back(graph.num_predecessors[t]);
        to.factor.graph.cost.push_back(graph.cost[t]);
        to.factor.graph.priority.push_back(graph.priority[t]);
        to.factor.graph.home.push_back(thread(graph.home[t]));
        if (!graph.resource.empty())
            to.factor.graph.resource.push_back(resource(one.process, graph.resource[t]));
        if (!schedule_.candidates.empty()) to.candidates.push_back(schedule_.candidates[t]);
        to.factor_schedule.worker_of_task.push_back(thread(schedule_.run.worker_of_task[t]));
    }

    void number_message(std::size_t t) {
        FactorTask const& message = task(t);
        auto const number = static_cast<std::size_t>(message.block);
        auto const set = [&](std::int32_t process, std::int32_t block) {
            FanInBlock& one = part(process).factor.fan_in.blocks[block];
            one.message = static_cast<std::int32_t>(t);
            one.priority = schedule_.tasks.graph.priority[t];
        };
        set(message.process, at_sender_[number]);
        set(message.peer, at_receiver_[number]);
    }

    // Resources belong to one process each.
    std::int32_t resource(std::int32_t process, std::int32_t number) {
        if (number == no_resource) return no_resource;
        if (resource_.empty()) resource_.assign(schedule_.tasks.graph.num_resources, no_resource);
        std::int32_t& local = resource_[number];
        if (local == no_resource) local = part(process).factor.graph.num_resources++;
        return local;
    }

    void deal_successors(std::size_t t) {
        if (local_id_[t] == no_task) return;
        TaskGraph const& graph = schedule_.tasks.graph;
        TaskGraph& own = part(task(t).process).factor.graph;
        for (Offset s = graph.successor_ptr[t]; s < graph.successor_ptr[t + 1]; ++s) {
            auto const next = static_cast<std::size_t>(graph.successors[s]);
            if (local_id_[next] != no_task) own.successors.push_back(local_id_[next]);
        }
        own.successor_ptr.push_back(static_cast<Offset>(own.successors.size()));
    }

    void deal_branches_and_owners() {
        for (std::size_t u = 0; u < schedule_.partition.branches.size(); ++u) {
            auto const t = static_cast<std::size_t>(schedule_.tasks.factor_of_branch[u]);
            part(task(t).process).factor.factor_of_branch[u] = local_id_[t];
        }
        for (LocalPlan& one : parts_) one.owner_of_cblk.assign(schedule_.owner_of_cblk.size(), any_worker);
        for (std::size_t k = 0; k < schedule_.owner_of_cblk.size(); ++k)
            part(schedule_.process_of_cblk[k]).owner_of_cblk[k] = thread(schedule_.owner_of_cblk[k]);
    }

    void deal_lists() {
        int const threads = schedule_.machine.threads;
        for (LocalPlan& one : parts_) one.factor_schedule.lists.resize(threads);
        for (std::size_t w = 0; w < schedule_.run.lists.size(); ++w) {
            LocalPlan& to = part(schedule_.machine.process_of(static_cast<int>(w)));
            auto& list = to.factor_schedule.lists[static_cast<std::size_t>(thread(static_cast<int>(w)))];
            for (TaskId const t : schedule_.run.lists[w]) list.push_back(local_id_[t]);
        }
        for (LocalPlan& one : parts_) one.factor_schedule.makespan = schedule_.run.makespan;
    }

    Schedule const& schedule_;
    std::vector<LocalPlan> parts_;
    std::vector<TaskId> local_id_; // no_task: a message
    std::vector<std::int32_t> at_sender_, at_receiver_, resource_;
};

// A solve is bound by memory: each branch stays with the worker that has its panels. What belongs to branches
// of others is done by worker 0.
void plan_solve(BlockStructure const& structure, SharedPlan const& shared, LocalPlan& local) {
    local.solve = build_solve_tasks(structure, shared.partition, shared.process_of_branch, local.process);
    for (std::size_t t = 0; t < local.solve.tasks.size(); ++t) {
        CblkId const root = shared.partition.branches[local.solve.tasks[t].branch].root;
        WorkerId const owner = local.owner_of_cblk[root];
        local.solve.graph.home[t] = owner == any_worker ? 0 : owner;
    }
    if (shared.process_of_branch.empty())
        local.solve_schedule = list_schedule(local.solve.graph, shared.machine.threads, true);
}

} // namespace

double FactorPlan::total_cost() const {
    double sum = 0;
    for (std::size_t k = 0; k < cblk_cost.size(); ++k)
        if (owner_of_cblk[k] != any_worker) sum += cblk_cost[k];
    return sum;
}

std::unique_ptr<Policy> FactorPlan::make_policy() const {
    if (settings.schedule == SchedulePolicy::static_order)
        return std::make_unique<StaticPolicy>(factor_schedule.lists, factor.graph.num_tasks());
    return make_factor_policy(settings, factor.graph, machine, candidates);
}

// Among several processes no order of tasks is known beforehand: each worker takes what is ready at home.
std::unique_ptr<Policy> FactorPlan::make_solve_policy() const {
    if (process_of_branch.empty())
        return std::make_unique<StaticPolicy>(solve_schedule.lists, solve.graph.num_tasks());
    std::vector<WorkerRange> homes;
    homes.reserve(solve.graph.home.size());
    for (WorkerId const home : solve.graph.home) homes.push_back({home, home + 1});
    return make_factor_policy({.schedule = SchedulePolicy::dynamic_tree}, solve.graph, machine, homes);
}

ProcessPlans make_process_plans(BlockStructure const& structure, CostModel const& model,
                                MachineModel const& machine, ScheduleOptions const& options) {
    Schedule schedule = simulate_schedule(structure, model, machine, options);
    ProcessPlans plans;
    plans.of_process = Dealer(schedule).run();
    SharedPlan& shared = plans.shared;
    shared.makespan = schedule.makespan();
    shared.messages = schedule.messages();
    shared.message_bytes = schedule.message_bytes();
    shared.tasks = schedule.tasks.graph.num_tasks() - shared.messages;
    for (ProcessUse const& use : schedule.processes) shared.memory_of_process.push_back(use.memory());
    shared.machine = machine;
    shared.settings = options;
    shared.partition = std::move(schedule.partition);
    shared.cblk_cost = std::move(schedule.cblk_cost);
    shared.groups = std::move(schedule.groups);
    if (machine.processes > 1) {
        shared.process_of_cblk = std::move(schedule.process_of_cblk);
        for (Branch const& branch : shared.partition.branches)
            shared.process_of_branch.push_back(shared.process_of_cblk[branch.root]);
    }
    for (LocalPlan& local : plans.of_process) plan_solve(structure, shared, local);
    return plans;
}

FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model,
                            MachineModel const& machine, ScheduleOptions const& options) {
    ProcessPlans plans = make_process_plans(structure, model, machine, options);
    return {std::move(plans.shared), std::move(plans.of_process.front())};
}

FactorPlan make_factor_plan(BlockStructure const& structure, CostModel const& model, int workers,
                            std::vector<int> const& node_of_worker) {
    MachineModel machine;
    machine.threads = workers;
    machine.node_of_thread = node_of_worker;
    return make_factor_plan(structure, model, machine);
}

} // namespace espalier
