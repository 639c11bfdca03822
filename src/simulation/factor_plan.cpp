#include "simulation/factor_plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "policies/make_policy.hpp"
#include "policies/static_policy.hpp"
#include "simulation/deal_solve.hpp"
#include "simulation/process_policies.hpp"

namespace espalier {

namespace {

// Distributes a schedule to the processes.
class Dealer {
  public:
    Dealer(BlockStructure const& structure, Schedule& schedule)
        : structure_(structure), schedule_(schedule), sent_(schedule.machine.processes),
          local_id_(schedule.tasks.tasks.size(), no_task) {
        plans_.of_process.resize(schedule.machine.processes);
    }

    ProcessPlans run() {
        for (std::int32_t p = 0; p < schedule_.machine.processes; ++p) part(p).process = p;
        deal_blocks();
        for (TaskId t = 0; t < num_tasks(); ++t) deal_task(t);
        for (TaskId t = 0; t < num_tasks(); ++t) deal_successors(t);
        deal_lists();
        if (schedule_.machine.processes == 1)
            take_structure();
        else
            deal_structure();
        deal_solve(std::move(schedule_.sweeps), schedule_.machine, plans_.of_process);
        return std::move(plans_);
    }

  private:
    [[nodiscard]] LocalPlan& part(std::int32_t process) { return plans_.of_process[process]; }
    [[nodiscard]] TaskId num_tasks() const { return schedule_.tasks.graph.num_tasks(); }
    [[nodiscard]] FactorTask const& task(TaskId t) const { return schedule_.tasks.tasks[t]; }
    [[nodiscard]] WorkerId thread(WorkerId worker) const {
        return worker == any_worker ? any_worker : schedule_.machine.thread_of(worker);
    }

    // Each block goes to its sender and to its receiver. Only the latter needs the rows: at the sender they
    // are the bloks of a ghost.
    void deal_blocks() {
        FanInBlocks const& all = schedule_.tasks.fan_in;
        for (std::size_t number = 0; number < all.blocks.size(); ++number) {
            FanInBlock block = all.blocks[number];
            auto const rows = all.rows_of(block);
            block.number = static_cast<std::int32_t>(part(block.to).incoming.size());
            block.first_rows = block.end_rows = 0;
            at_sender_.push_back(add_block(block, part(block.from), part(block.from).outgoing));
            sent_[block.from].push_back(static_cast<std::int32_t>(number));
            auto& own_rows = part(block.to).factor.fan_in.rows;
            block.first_rows = std::ssize(own_rows);
            own_rows.insert(own_rows.end(), rows.begin(), rows.end());
            block.end_rows = std::ssize(own_rows);
            at_receiver_.push_back(add_block(block, part(block.to), part(block.to).incoming));
        }
    }
    static std::int32_t add_block(FanInBlock const& block, LocalPlan& to, std::vector<std::int32_t>& list) {
        auto const number = static_cast<std::int32_t>(to.factor.fan_in.blocks.size());
        to.factor.fan_in.blocks.push_back(block);
        list.push_back(number);
        return number;
    }

    void deal_task(TaskId t) {
        FactorTask one = task(t);
        if (one.kind == TaskKind::message) return number_message(t);
        TaskGraph const& graph = schedule_.tasks.graph;
        LocalPlan& to = part(one.process);
        auto const id = static_cast<TaskId>(to.factor.tasks.size());
        local_id_[t] = id;
        if (one.block != no_block) {
            std::int32_t const number = one.block;
            one.block = (one.kind == TaskKind::fan_in ? at_receiver_ : at_sender_)[number];
            if (one.kind == TaskKind::fan_in) {
                to.factor.fan_in.blocks[one.block].fan_in_task = id;
                ++to.num_events; // the predecessor that was the message is an event now
            }
        }
        to.factor.tasks.push_back(one);
        to.number_of_task.push_back(t);
        to.factor.graph.num_predecessors.push_back(graph.num_predecessors[t]);
        to.factor.graph.cost.push_back(graph.cost[t]);
        to.factor.graph.priority.push_back(graph.priority[t]);
        to.factor.graph.home.push_back(thread(graph.home[t]));
        if (!graph.resource.empty())
            to.factor.graph.resource.push_back(resource(one.process, graph.resource[t]));
        if (!schedule_.candidates.empty()) to.candidates.push_back(schedule_.candidates[t]);
        to.factor_schedule.worker_of_task.push_back(thread(schedule_.run.worker_of_task[t]));
    }

    void number_message(TaskId t) {
        FactorTask const& message = task(t);
        auto const set = [&](std::int32_t process, std::int32_t block) {
            FanInBlock& one = part(process).factor.fan_in.blocks[block];
            one.message = t;
            one.priority = schedule_.tasks.graph.priority[t];
        };
        set(message.process, at_sender_[message.block]);
        set(message.peer, at_receiver_[message.block]);
    }

    // Resources belong to one process each.
    std::int32_t resource(std::int32_t process, std::int32_t number) {
        if (number == no_resource) return no_resource;
        if (resource_.empty()) resource_.assign(schedule_.tasks.graph.num_resources, no_resource);
        std::int32_t& local = resource_[number];
        if (local == no_resource) local = part(process).factor.graph.num_resources++;
        return local;
    }

    void deal_successors(TaskId t) {
        if (local_id_[t] == no_task) return;
        TaskGraph const& graph = schedule_.tasks.graph;
        TaskGraph& own = part(task(t).process).factor.graph;
        for (TaskId const next : graph.successors_of(t))
            if (local_id_[next] != no_task) own.successors.push_back(local_id_[next]);
        own.successor_ptr.push_back(std::ssize(own.successors));
    }

    void deal_lists() {
        for (LocalPlan& one : plans_.of_process) {
            one.factor_schedule.lists.resize(schedule_.machine.threads);
            one.factor_schedule.makespan = schedule_.run.makespan;
        }
        for (WorkerId w = 0; w < std::ssize(schedule_.run.lists); ++w) {
            LocalPlan& to = part(schedule_.machine.process_of(w));
            for (TaskId const t : schedule_.run.lists[w])
                to.factor_schedule.lists[thread(w)].push_back(local_id_[t]);
        }
    }

    void take_structure() {
        LocalPlan& only = part(0);
        only.partition = std::move(schedule_.partition);
        only.cblk_cost = std::move(schedule_.cblk_cost);
        only.groups = std::move(schedule_.groups);
        only.owner_of_cblk = std::move(schedule_.owner_of_cblk);
    }

    void deal_structure() {
        LocalStructures structures(structure_, schedule_.process_of_cblk, schedule_.machine.processes);
        for (LocalPlan& plan : plans_.of_process) {
            LocalStructure local = structures.part(plan.process, schedule_.tasks.fan_in, sent_[plan.process]);
            deal_cblks(local.structure, plan);
            plan.groups = schedule_.groups.of_part(local.structure, local.number_of_blok);
            renumber_tasks(structures, local, plan);
            plans_.structures.push_back(std::move(local.structure));
        }
        plans_.process_of_cblk = std::move(schedule_.process_of_cblk);
    }

    void deal_cblks(BlockStructure const& local, LocalPlan& plan) {
        BranchPartition& to = plan.partition;
        for (CblkId i = 0; i < local.num_cblks(); ++i) {
            CblkId const k = local.number_of(i);
            BranchId const u = schedule_.partition.branch_of_cblk[k];
            std::int32_t const process = schedule_.process_of_cblk[k];
            if (plan.number_of_branch.empty() || plan.number_of_branch.back() != u) {
                plan.number_of_branch.push_back(u);
                plan.process_of_branch.push_back(process);
                to.branches.push_back({i, i, schedule_.partition.branches[u].cost});
            }
            to.branches.back().root = i;
            to.branch_of_cblk.push_back(static_cast<BranchId>(to.branches.size()) - 1);
            plan.cblk_cost.push_back(schedule_.cblk_cost[k]);
            plan.owner_of_cblk.push_back(process == plan.process ? thread(schedule_.owner_of_cblk[k])
                                                                 : any_worker);
        }
    }

    void renumber_tasks(LocalStructures const& structures, LocalStructure const& local, LocalPlan& plan) {
        auto const position = [&](Offset facing) { // place of a blok of an own cblk
            BlokId const b = structure_.facing[facing];
            CblkId const k = structure_.owner_of_blok[b];
            BlokId const first = local.structure.cblk(structures.local_number(k)).first_blok;
            return local.facing_position[first + (b - structure_.cblk(k).first_blok)];
        };
        for (FactorTask& one : plan.factor.tasks) {
            CblkId const source = structures.local_number(schedule_.partition.branches[one.source].root);
            one.source = one.kind == TaskKind::fan_in ? no_branch : plan.partition.branch_of_cblk[source];
            if (one.target != no_cblk) one.target = structures.local_number(one.target);
            if (one.first_facing == one.end_facing) continue;
            one.first_facing = position(one.first_facing);
            one.end_facing = position(one.end_facing - 1) + 1;
        }
        for (FanInBlock& block : plan.factor.fan_in.blocks)
            block.target = structures.local_number(block.target);
    }

    BlockStructure const& structure_;
    Schedule& schedule_;
    ProcessPlans plans_;
    std::vector<std::vector<std::int32_t>> sent_; // blocks, by process
    std::vector<TaskId> local_id_;                // no_task: a message
    std::vector<std::int32_t> at_sender_, at_receiver_, resource_;
};

} // namespace

double LocalPlan::total_cost() const {
    double sum = 0;
    for (CblkId k = 0; k < std::ssize(cblk_cost); ++k)
        if (is_own(k)) sum += cblk_cost[k];
    return sum;
}

BranchId LocalPlan::find_branch(std::int64_t number) const {
    if (number_of_branch.empty()) return static_cast<BranchId>(number);
    auto const at = std::lower_bound(number_of_branch.begin(), number_of_branch.end(), number);
    if (at == number_of_branch.end() || *at != number) return no_branch;
    return static_cast<BranchId>(at - number_of_branch.begin());
}

std::unique_ptr<Policy> FactorPlan::make_policy(TaskGraph const& graph) const {
    if (settings.schedule == SchedulePolicy::static_order)
        return std::make_unique<StaticPolicy>(factor_schedule.lists, graph.num_tasks());
    return make_process_policy(settings, graph, machine, candidates);
}

std::unique_ptr<Policy> FactorPlan::make_solve_policy(TaskGraph const& graph) const {
    return make_process_policy(settings_of_sweeps(settings), graph, machine, solve_candidates);
}

std::string splitting_without_effect(ScheduleSettings const& settings, int workers, bool cuts_panels) {
    bool const is_dynamic = settings.splitting == Splitting::dynamic;
    if (settings.splitting == Splitting::one_d) return {};
    std::string const start = fmt::format("split {} has no effect", to_string(settings.splitting));
    if (workers == 1) return start + " with one thread";
    if (is_dynamic && settings.schedule == SchedulePolicy::static_order)
        return start + " with the static schedule, whose lists fix all tasks";
    if (cuts_panels) return {};
    return fmt::format(
        "{} with {} threads: no column block has {} columns (split-width), {} rows below them (twice "
        "split-rows) and several candidate threads",
        start, workers, settings.split_width, 2 * settings.split_rows);
}

ProcessPlans make_process_plans(BlockStructure const& structure, CostModel const& model,
                                MachineModel const& machine, ScheduleOptions const& options) {
    return deal_schedule(structure, simulate_schedule(structure, model, machine, options), options);
}

ProcessPlans deal_schedule(BlockStructure const& structure, Schedule schedule,
                           ScheduleOptions const& options) {
    SharedPlan shared;
    shared.makespan = schedule.makespan();
    shared.solve_seconds = schedule.solve_seconds();
    shared.branches = std::ssize(schedule.partition.branches);
    shared.messages = schedule.messages();
    shared.cuts_panels = !schedule.groups.none_is_cut();
    shared.message_bytes = schedule.message_bytes();
    shared.tasks = schedule.tasks.graph.num_tasks() - shared.messages;
    for (ProcessUse const& use : schedule.processes) shared.memory_of_process.push_back(use.memory());
    shared.machine = schedule.machine;
    shared.settings = options;
    ProcessPlans plans = Dealer(structure, schedule).run();
    for (LocalPlan const& plan : plans.of_process)
        shared.solve_tasks = std::max(shared.solve_tasks, static_cast<std::int64_t>(plan.solve.tasks.size()));
    plans.shared = std::move(shared);
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
