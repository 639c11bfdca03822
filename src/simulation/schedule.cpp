#include "simulation/schedule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "policies/static_policy.hpp"
#include "simulation/candidate_queues.hpp"
#include "simulation/memory_clock.hpp"
#include "simulation/message_network.hpp"
#include "simulation/panel_dealer.hpp"
#include "simulation/process_owners.hpp"
#include "simulation/process_policies.hpp"
#include "tasks/task_pieces.hpp"

namespace espalier {

namespace {

// For each thread of a process the range of threads around it on its NUMA node.
std::vector<Candidates> node_ranges(MachineModel const& machine) {
    std::vector<Candidates> ranges(machine.threads);
    for (int first = 0, end = 0; first < machine.threads; first = end) {
        while (end < machine.threads && machine.node_of(end) == machine.node_of(first)) ++end;
        for (int t = first; t < end; ++t) ranges[t] = {first, end};
    }
    return ranges;
}

// A task has the candidates of the cblk it writes to, among which are those of its source. Within reach are
// all threads of the process on the NUMA nodes of its candidates.
std::vector<TaskRange> ranges_of_tasks(Schedule const& schedule) {
    MachineModel const& machine = schedule.machine;
    std::vector<TaskRange> ranges;
    ranges.reserve(schedule.tasks.tasks.size());
    std::vector<Candidates> const nodes = node_ranges(machine);
    for (FactorTask const& task : schedule.tasks.tasks) {
        Candidates const own = schedule.mapping.workers_in(cblk_of(task, schedule.partition), task.process);
        int const offset = task.process * machine.threads;
        auto const node_at = [&](int worker) { return nodes[worker - offset]; };
        ranges.push_back({own, {node_at(own.first).first + offset, node_at(own.end - 1).end + offset}});
    }
    return ranges;
}

void set_owners(Schedule& schedule, std::vector<WorkerId> const& owner_of_branch) {
    for (BranchId const u : schedule.partition.branch_of_cblk) {
        schedule.owner_of_cblk.push_back(owner_of_branch[u]);
        schedule.process_of_cblk.push_back(schedule.machine.process_of(owner_of_branch[u]));
    }
}

// Static: the worker that factorizes a panel owns it.
void set_owners_by_run(Schedule& schedule) {
    std::vector<WorkerId> owner_of_branch;
    for (TaskId const task : schedule.tasks.factor_of_branch)
        owner_of_branch.push_back(schedule.run.worker_of_task[task]);
    set_owners(schedule, owner_of_branch);
    schedule.tasks.graph.home = schedule.run.worker_of_task;
}

// Not static: threads own branches in turn (panel_dealer.hpp); the home of a task owns what it writes.
void deal_owners(Schedule& schedule, ScheduleSettings const& settings) {
    MachineModel const& machine = schedule.machine;
    PanelDealer dealer(settings, machine);
    std::vector<WorkerId> owner_of_branch;
    for (TaskId const t : schedule.tasks.factor_of_branch) {
        FactorTask const& task = schedule.tasks.tasks[t];
        Candidates const workers =
            schedule.mapping.workers_in(cblk_of(task, schedule.partition), task.process);
        int const first = task.process * machine.threads;
        owner_of_branch.push_back(first +
                                  dealer.next(task.process, {workers.first - first, workers.end - first}));
    }
    set_owners(schedule, owner_of_branch);
    // A fan-in block is not part of a panel: its home is the thread that owns the source of the contribution.
    for (TaskId t = 0; t < schedule.tasks.graph.num_tasks(); ++t) {
        FactorTask const& task = schedule.tasks.tasks[t];
        WorkerId const at_target = schedule.owner_of_cblk[cblk_of(task, schedule.partition)];
        schedule.tasks.graph.home[t] =
            machine.process_of(at_target) == task.process ? at_target : owner_of_branch[task.source];
    }
}

// A change of the memory of a process. Among changes at the same time, negative ones come first.
using Change = std::pair<double, double>; // time, bytes

double peak(std::vector<Change> changes) {
    std::sort(changes.begin(), changes.end());
    double now = 0, most = 0;
    for (auto const& [time, bytes] : changes) {
        now += bytes;
        most = std::max(most, now);
    }
    return most;
}

// The fan-in block of a message is stored at the sender from its first update to the end of the message, and
// at the receiver from then until its fan-in task is done.
void count_messages(Schedule& schedule) {
    auto const& tasks = schedule.tasks.tasks;
    TimedRun const& run = schedule.run;
    std::vector<std::vector<Change>> changes(schedule.processes.size());
    auto const& blocks = schedule.tasks.fan_in.blocks;
    std::vector<double> begin(blocks.size(), std::numeric_limits<double>::infinity()); // first update
    for (TaskId t = 0; t < std::ssize(tasks); ++t)
        if (tasks[t].kind == TaskKind::update && tasks[t].block != no_block)
            begin[tasks[t].block] = std::min(begin[tasks[t].block], run.start[t]);
    for (TaskId t = 0; t < std::ssize(tasks); ++t) {
        FactorTask const& task = tasks[t];
        if (task.kind != TaskKind::message) continue;
        ProcessUse& sender = schedule.processes[task.process];
        ProcessUse& receiver = schedule.processes[task.peer];
        sender.sent += task.bytes;
        ++sender.messages_sent;
        receiver.received += task.bytes;
        ++receiver.messages_received;
        changes[task.process].emplace_back(begin[task.block], task.bytes);
        changes[task.process].emplace_back(run.end[t], -task.bytes);
        changes[task.peer].emplace_back(run.end[t], task.bytes);
        changes[task.peer].emplace_back(run.end[blocks[task.block].fan_in_task], -task.bytes);
    }
    for (std::size_t p = 0; p < changes.size(); ++p)
        schedule.processes[p].fan_in_peak = peak(std::move(changes[p]));
}

void add_transfers(Schedule& schedule, MessageNetwork const& network) {
    auto& transfers = schedule.run.transfers;
    transfers.insert(transfers.end(), network.transfers().begin(), network.transfers().end());
}

// Makes lists and owners as if all memory were equally near.
void plan_statically(Schedule& schedule) {
    std::vector<TaskRange> const ranges = ranges_of_tasks(schedule);
    int const workers = schedule.machine.num_workers();
    CandidateQueues queues(schedule.tasks.graph, ranges, workers);
    MessageNetwork network(schedule.tasks, schedule.machine, schedule.comm_threads);
    schedule.run = simulate(schedule.tasks.graph, queues, workers, &network);
    add_transfers(schedule, network);
    set_owners_by_run(schedule);
}

// Runs the lists of the plan with a clock that the plan was made without.
void run_lists(Schedule& schedule, TaskClock& clock) {
    MessageNetwork network(schedule.tasks, schedule.machine, schedule.comm_threads);
    TaskId const tasks = schedule.tasks.graph.num_tasks();
    StaticPolicy policy(with_messages(std::move(schedule.run.lists), network, tasks), tasks);
    schedule.run = simulate(schedule.tasks.graph, policy, schedule.machine.num_workers(), &network, &clock);
    add_transfers(schedule, network);
}

// Splitting::dynamic.
class FactorDivisions : public Divisions {
  public:
    FactorDivisions(Schedule const& schedule, BlockStructure const& structure, CostModel const& model,
                    ScheduleSettings const& settings)
        : schedule_(schedule), structure_(structure), model_(model), settings_(settings) {}

    [[nodiscard]] WorkerRange helpers(TaskId task) const override {
        FactorTask const& one = schedule_.tasks.tasks[task];
        if (!is_divisible(one, schedule_.partition, schedule_.groups, settings_,
                          schedule_.tasks.graph.cost[task]))
            return {};
        int const first = one.process * schedule_.machine.threads;
        WorkerRange const threads = schedule_.candidates[task];
        return {first + threads.first, first + threads.end};
    }
    [[nodiscard]] int least_idle() const override { return static_cast<int>(settings_.split_idle); }
    [[nodiscard]] std::vector<std::vector<double>> divide(TaskId task) const override {
        return stages_of(schedule_.tasks.tasks[task], schedule_.tasks, structure_, schedule_.partition,
                         schedule_.groups, model_, settings_.split_width);
    }

    [[nodiscard]] std::vector<double> shortest_costs() const {
        std::vector<double> costs = schedule_.tasks.graph.cost;
        for (TaskId t = 0; t < std::ssize(costs); ++t) {
            if (helpers(t).count() == 1) continue;
            costs[t] = 0;
            for (std::vector<double> const& pieces : divide(t)) costs[t] += *std::ranges::max_element(pieces);
        }
        return costs;
    }

  private:
    Schedule const& schedule_;
    BlockStructure const& structure_;
    CostModel const& model_;
    ScheduleSettings const& settings_;
};

void run_policies(Schedule& schedule, ScheduleSettings const& settings, TaskClock* clock,
                  Divisions const& divisions) {
    MachineModel const& machine = schedule.machine;
    ProcessPolicies policies(settings, schedule.tasks, machine, schedule.candidates);
    MessageNetwork network(schedule.tasks, machine, schedule.comm_threads);
    schedule.run = simulate(schedule.tasks.graph, policies, machine.num_workers(), &network, clock,
                            settings.splitting == Splitting::dynamic ? &divisions : nullptr);
    add_transfers(schedule, network);
    for (WorkerId w = 0; w < machine.num_workers(); ++w)
        schedule.processes[machine.process_of(w)].steals += policies.steals(w);
    schedule.steals_by_distance = policies.steals_by_distance();
}

template <class T> T sum(std::vector<ProcessUse> const& processes, T ProcessUse::* member) {
    T total{};
    for (ProcessUse const& process : processes) total += process.*member;
    return total;
}

} // namespace

double Schedule::total_work() const {
    return std::accumulate(run.busy.begin(), run.busy.end(), 0.0);
}

double Schedule::memory_seconds() const {
    double planned = 0;
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t)
        if (tasks.tasks[t].kind != TaskKind::message) planned += tasks.graph.cost[t];
    return std::max(0.0, total_work() - planned);
}

double Schedule::communication_seconds() const {
    return std::accumulate(run.communication.begin(), run.communication.end(), 0.0);
}

double Schedule::local_share() const {
    double const all = sum(processes, &ProcessUse::bytes);
    return all > 0 ? sum(processes, &ProcessUse::local_bytes) / all : 1;
}

std::int64_t Schedule::steals() const {
    return sum(processes, &ProcessUse::steals);
}

std::int64_t Schedule::tasks_divided() const {
    std::set<TaskId> divided;
    for (TimedPiece const& piece : run.helped) divided.insert(piece.task);
    return std::ssize(divided);
}

double Schedule::critical_path() const {
    TaskGraph graph = tasks.graph;
    if (!shortest_cost.empty()) graph.cost = shortest_cost;
    std::vector<double> const lengths = longest_paths(graph);
    return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

double Schedule::efficiency() const {
    return makespan() > 0 ? total_work() / (makespan() * machine.num_workers()) : 1.0;
}

std::int64_t Schedule::messages() const {
    return sum(processes, &ProcessUse::messages_sent);
}

double Schedule::message_bytes() const {
    return sum(processes, &ProcessUse::sent);
}

Schedule simulate_schedule(BlockStructure const& structure, CostModel const& model,
                           MachineModel const& machine, ScheduleOptions const& options) {
    Schedule schedule;
    schedule.machine = machine;
    schedule.comm_threads = comm_threads_of(options, machine);
    schedule.cblk_cost = cblk_costs(structure, model);
    schedule.mapping = proportional_mapping(structure, schedule.cblk_cost, machine, options.mapping);
    bool const is_static = options.schedule == SchedulePolicy::static_order;
    schedule.partition = cut_branches(structure, schedule.cblk_cost, machine.num_workers(),
                                      static_cast<double>(options.subtrees_per_worker));
    Contributions const contributions = find_contributions(structure, schedule.partition, model);
    schedule.groups = RowGroups(structure, schedule.partition, schedule.mapping, options);
    // Tasks that are divided while they run are planned whole.
    RowGroups const uncut;
    RowGroups const& planned = options.splitting == Splitting::dynamic ? uncut : schedule.groups;
    Distribution const distribution{choose_processes(structure, schedule.partition, contributions, model,
                                                     schedule.mapping, machine, options.format, planned),
                                    machine.network, options.format};
    schedule.tasks = build_factor_tasks(structure, schedule.partition, contributions, model, distribution,
                                        planned, is_static ? SumOrder::fixed : SumOrder::as_they_come);
    schedule.candidates = candidate_threads(schedule.tasks, schedule.partition, schedule.mapping);

    schedule.processes.resize(machine.processes);
    if (is_static)
        plan_statically(schedule);
    else
        deal_owners(schedule, options);
    FactorDivisions const divisions(schedule, structure, model, options);
    if (options.splitting == Splitting::dynamic) schedule.shortest_cost = divisions.shortest_costs();
    std::optional<MemoryClock> clock;
    if (options.models_memory) clock.emplace(structure, model, options.format, schedule, options.allocation);
    if (!is_static)
        run_policies(schedule, options, clock ? &*clock : nullptr, divisions);
    else if (clock)
        run_lists(schedule, *clock);
    for (std::size_t p = 0; clock && p < schedule.processes.size(); ++p) {
        schedule.processes[p].bytes = clock->touched()[p].all;
        schedule.processes[p].local_bytes = clock->touched()[p].local;
    }
    for (std::size_t k = 0; k < structure.cblks.size(); ++k)
        schedule.processes[schedule.process_of_cblk[k]].panels +=
            options.format.bytes(structure.cblks[k].stride, structure.cblks[k].width());
    count_messages(schedule);
    schedule.sweeps = simulate_sweeps(structure, model, schedule, options);
    return schedule;
}

std::vector<std::int32_t> tree_levels(BlockStructure const& structure) {
    if (structure.is_part()) return structure.level_of_cblk;
    std::vector<std::int32_t> level(structure.cblks.size(), 0);
    for (std::size_t k = structure.cblks.size(); k-- > 0;)
        if (CblkId const parent = structure.cblks[k].parent; parent != no_cblk) level[k] = level[parent] + 1;
    return level;
}

} // namespace espalier
