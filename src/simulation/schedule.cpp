#include "simulation/schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "policies/static_policy.hpp"
#include "simulation/candidate_queues.hpp"
#include "simulation/memory_clock.hpp"
#include "simulation/message_network.hpp"
#include "simulation/process_owners.hpp"
#include "simulation/process_policies.hpp"

namespace espalier {

namespace {

// For each thread the run of threads of its process around it that are on its NUMA node.
std::vector<Candidates> node_ranges(MachineModel const& machine) {
    std::vector<Candidates> ranges(machine.threads);
    for (int first = 0, end = 0; first < machine.threads; first = end) {
        while (end < machine.threads && machine.node_of(end) == machine.node_of(first)) ++end;
        for (int t = first; t < end; ++t) ranges[t] = {first, end};
    }
    return ranges;
}

// An update, and what becomes of it, has the candidates of its target, of which those of its source are a
// part. Within reach are all threads of the process on the NUMA nodes of its candidates.
std::vector<TaskRange> ranges_of_tasks(Schedule const& schedule) {
    MachineModel const& machine = schedule.machine;
    std::vector<TaskRange> ranges;
    ranges.reserve(schedule.tasks.tasks.size());
    std::vector<Candidates> const nodes = node_ranges(machine);
    for (std::size_t t = 0; t < schedule.tasks.tasks.size(); ++t) {
        std::int32_t const process = schedule.tasks.tasks[t].process;
        Candidates const own = schedule.mapping.workers_in(schedule.cblk_of(static_cast<TaskId>(t)), process);
        int const offset = process * machine.threads;
        auto const node_at = [&](int worker) { return nodes[worker - offset]; };
        ranges.push_back({own, {node_at(own.first).first + offset, node_at(own.end - 1).end + offset}});
    }
    return ranges;
}

// Static: who factorizes a panel owns it.
void set_owners_by_run(Schedule& schedule) {
    for (BranchId const u : schedule.partition.branch_of_cblk) {
        TaskId const task = schedule.tasks.factor_of_branch[u];
        WorkerId const worker = schedule.run.worker_of_task[task];
        schedule.owner_of_cblk.push_back(worker);
        schedule.process_of_cblk.push_back(schedule.machine.process_of(worker));
    }
    schedule.tasks.graph.home = schedule.run.worker_of_task;
}

// Dynamic: the candidates of a branch own branches in turn, and tasks are at home where they write.
void set_owners_in_turn(Schedule& schedule) {
    MachineModel const& machine = schedule.machine;
    std::vector<int> turn(machine.processes, 0);
    std::vector<WorkerId> owner_of_branch;
    for (std::size_t u = 0; u < schedule.partition.branches.size(); ++u) {
        TaskId const task = schedule.tasks.factor_of_branch[u];
        int const process = schedule.tasks.tasks[task].process;
        Candidates const workers = schedule.mapping.workers_in(schedule.partition.branches[u].root, process);
        int const offset = workers.count() > 1 ? turn[process]++ % workers.count() : 0;
        owner_of_branch.push_back(workers.first + offset);
    }
    for (BranchId const u : schedule.partition.branch_of_cblk) {
        WorkerId const worker = owner_of_branch[u];
        schedule.owner_of_cblk.push_back(worker);
        schedule.process_of_cblk.push_back(machine.process_of(worker));
    }
    // A fan-in block, which belongs to no panel here, is at home with the thread that made the contribution.
    for (std::size_t t = 0; t < schedule.tasks.tasks.size(); ++t) {
        FactorTask const& task = schedule.tasks.tasks[t];
        WorkerId const at_target =
            schedule.owner_of_cblk[static_cast<std::size_t>(schedule.cblk_of(static_cast<TaskId>(t)))];
        schedule.tasks.graph.home[t] =
            machine.process_of(at_target) == task.process ? at_target : owner_of_branch[task.source];
    }
}

// Memory of a process that grows and shrinks; negative changes come first among those at one time.
using Change = std::pair<double, double>; // time, bytes

double peak(std::vector<Change>& changes) {
    std::sort(changes.begin(), changes.end());
    double now = 0, most = 0;
    for (auto const& [time, bytes] : changes) {
        now += bytes;
        most = std::max(most, now);
    }
    return most;
}

// The fan-in block of a message lives at the sender from its first update to its end, then at the receiver
// until its fan-ins, the next tasks, are done.
void count_messages(Schedule& schedule) {
    auto const& tasks = schedule.tasks.tasks;
    std::vector<std::vector<Change>> changes(schedule.processes.size());
    std::map<std::int32_t, double> begin; // of the sums for the target at hand, by process
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        FactorTask const& task = tasks[t];
        auto const p = static_cast<std::size_t>(task.process);
        if (task.kind == TaskKind::factor || task.kind == TaskKind::diagonal) begin.clear();
        if (task.kind == TaskKind::update) {
            double& first = begin.try_emplace(task.process, schedule.run.start[t]).first->second;
            first = std::min(first, schedule.run.start[t]);
        }
        if (task.kind != TaskKind::message) continue;
        auto const peer = static_cast<std::size_t>(task.peer);
        schedule.processes[p].sent += task.bytes;
        ++schedule.processes[p].messages_sent;
        schedule.processes[peer].received += task.bytes;
        ++schedule.processes[peer].messages_received;
        double const end = schedule.run.end[t];
        changes[p].emplace_back(begin.at(task.process), task.bytes);
        changes[p].emplace_back(end, -task.bytes);
        changes[peer].emplace_back(end, task.bytes);
        double added = end;
        for (std::size_t f = t + 1; f < tasks.size() && tasks[f].kind == TaskKind::fan_in; ++f)
            if (tasks[f].target == task.target && tasks[f].peer == task.process)
                added = std::max(added, schedule.run.end[f]);
        changes[peer].emplace_back(added, -task.bytes);
    }
    for (std::size_t p = 0; p < changes.size(); ++p) schedule.processes[p].fan_in_peak = peak(changes[p]);
}

// Lists and owners as if memory were equally near.
void plan_statically(Schedule& schedule) {
    std::vector<TaskRange> const ranges = ranges_of_tasks(schedule);
    int const workers = schedule.machine.num_workers();
    CandidateQueues queues(schedule.tasks.graph, ranges, workers);
    MessageNetwork network(schedule.tasks, schedule.machine);
    schedule.run = simulate(schedule.tasks.graph, queues, workers, &network);
    set_owners_by_run(schedule);
}

// The lists of the plan, by a clock that the plan did not know.
void run_lists(Schedule& schedule, TaskClock& clock) {
    MessageNetwork network(schedule.tasks, schedule.machine);
    std::vector<std::vector<TaskId>> lists = std::move(schedule.run.lists);
    lists.emplace_back(); // messages, which no worker does
    for (TaskId t = 0; t < schedule.tasks.graph.num_tasks(); ++t)
        if (network.carries(t)) lists.back().push_back(t);
    StaticPolicy policy(lists, schedule.tasks.graph.num_tasks());
    PolicyDispatcher dispatcher(policy, schedule.tasks.graph);
    schedule.run =
        simulate(schedule.tasks.graph, dispatcher, schedule.machine.num_workers(), &network, &clock);
}

void run_policies(Schedule& schedule, ScheduleSettings const& settings, TaskClock* clock) {
    MachineModel const& machine = schedule.machine;
    ProcessPolicies policies(settings, schedule.tasks, machine, schedule.candidates);
    MessageNetwork network(schedule.tasks, machine);
    schedule.run = simulate(schedule.tasks.graph, policies, machine.num_workers(), &network, clock);
    for (WorkerId w = 0; w < machine.num_workers(); ++w)
        schedule.processes[machine.process_of(w)].steals += policies.steals(w);
    schedule.steals_by_distance = policies.steals_by_distance();
}

} // namespace

double Schedule::total_work() const {
    return std::accumulate(run.busy.begin(), run.busy.end(), 0.0);
}

double Schedule::memory_seconds() const {
    double planned = 0;
    for (std::size_t t = 0; t < tasks.tasks.size(); ++t)
        if (tasks.tasks[t].kind != TaskKind::message) planned += tasks.graph.cost[t];
    return std::max(0.0, total_work() - planned);
}

double Schedule::local_share() const {
    double local = 0, all = 0;
    for (ProcessUse const& process : processes) {
        local += process.local_bytes;
        all += process.bytes;
    }
    return all > 0 ? local / all : 1;
}

std::int64_t Schedule::steals() const {
    std::int64_t count = 0;
    for (ProcessUse const& process : processes) count += process.steals;
    return count;
}

double Schedule::critical_path() const {
    TaskGraph const& graph = tasks.graph;
    std::vector<double> from(tasks.tasks.size(), 0.0); // each task to the end
    double longest = 0;
    for (std::size_t t = from.size(); t-- > 0;) { // successors have higher numbers
        for (Offset s = graph.successor_ptr[t]; s < graph.successor_ptr[t + 1]; ++s)
            from[t] = std::max(from[t], from[graph.successors[s]]);
        from[t] += graph.cost[t];
        longest = std::max(longest, from[t]);
    }
    return longest;
}

double Schedule::efficiency() const {
    return makespan() > 0 ? total_work() / (makespan() * machine.num_workers()) : 1.0;
}

std::int64_t Schedule::messages() const {
    std::int64_t count = 0;
    for (ProcessUse const& process : processes) count += process.messages_sent;
    return count;
}

double Schedule::message_bytes() const {
    double bytes = 0;
    for (ProcessUse const& process : processes) bytes += process.sent;
    return bytes;
}

CblkId Schedule::cblk_of(TaskId task) const {
    FactorTask const& one = tasks.tasks[task];
    if (one.target != no_cblk) return one.target;
    return partition.branches[one.source].root;
}

Schedule simulate_schedule(BlockStructure const& structure, CostModel const& model,
                           MachineModel const& machine, ScheduleOptions const& options) {
    Schedule schedule;
    schedule.machine = machine;
    schedule.cblk_cost = cblk_costs(structure, model);
    schedule.mapping = proportional_mapping(structure, schedule.cblk_cost, machine, options.mapping);
    bool const is_static = options.schedule == SchedulePolicy::static_order;
    double const subtrees = options.subtrees_per_worker > 0 ? options.subtrees_per_worker
                            : is_static                     ? 3
                                                            : 16;
    schedule.partition = cut_branches(structure, schedule.cblk_cost, machine.num_workers(), subtrees);
    Contributions const contributions = find_contributions(structure, schedule.partition, model);
    schedule.groups = RowGroups(structure, schedule.partition, schedule.mapping, options);
    Distribution const distribution{choose_processes(structure, schedule.partition, contributions, model,
                                                     schedule.mapping, machine, options.format,
                                                     schedule.groups),
                                    machine.network, options.format};
    schedule.tasks =
        build_factor_tasks(structure, schedule.partition, contributions, model, distribution, schedule.groups,
                           is_static ? SumOrder::fixed : SumOrder::as_they_come);
    schedule.candidates = candidate_threads(schedule.tasks, schedule.partition, schedule.mapping);

    schedule.processes.resize(machine.processes);
    if (is_static)
        plan_statically(schedule);
    else
        set_owners_in_turn(schedule);
    std::optional<MemoryClock> clock;
    if (options.models_memory) clock.emplace(structure, model, options.format, schedule, options.allocation);
    if (!is_static)
        run_policies(schedule, options, clock ? &*clock : nullptr);
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
