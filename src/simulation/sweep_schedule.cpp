#include "simulation/sweep_schedule.hpp"

#include <optional>

#include "simulation/message_network.hpp"
#include "simulation/node_memory.hpp"
#include "simulation/process_policies.hpp"
#include "simulation/schedule.hpp"

namespace espalier {

namespace {

// The times of sweeps on NUMA nodes. A task reads the panels of its branch, which are on the node of their
// owner (`local`), on node 0 (`global`), or on all nodes (`interleave`).
class SweepClock : public TaskClock {
  public:
    SweepClock(BlockStructure const& structure, CostModel const& model, PanelFormat const& format,
               SolveTasks const& tasks, Schedule const& schedule, Allocation allocation)
        : tasks_(tasks), schedule_(schedule), allocation_(allocation),
          memory_(schedule.machine, model.bandwidth) {
        for (Branch const& branch : schedule.partition.branches) {
            double& bytes = bytes_.emplace_back(0);
            if (structure.is_kept(branch.first)) continue;
            for (CblkId k = branch.first; k <= branch.root; ++k) // L or U
                bytes += PanelFormat{format.scalar_bytes}.bytes(structure.cblk(k).stride,
                                                                structure.cblk(k).width());
        }
    }

    double begin(TaskId task, WorkerId worker, double) override {
        SolveTask const& one = tasks_.tasks[task];
        double const bytes = is_at_owner(one.kind) ? one.share * bytes_[one.branch] : 0;
        NodeMemory::Access const panels[] = {{bytes, node_of(one), false}};
        return memory_.begin(worker, tasks_.graph.cost[task], panels);
    }
    void end(TaskId, WorkerId worker) override { memory_.end(worker); }

  private:
    [[nodiscard]] int node_of(SolveTask const& task) const {
        if (allocation_ == Allocation::global) return 0;
        if (allocation_ == Allocation::interleave) return NodeMemory::all_nodes;
        return schedule_.machine.node_of(schedule_.owner_of_cblk[cblk_of(task, schedule_.partition)]);
    }

    SolveTasks const& tasks_;
    Schedule const& schedule_;
    Allocation allocation_;
    std::vector<double> bytes_; // by branch: bytes of its panels
    NodeMemory memory_;
};

Distribution distribution_of(Schedule const& schedule, PanelFormat const& format) {
    Distribution distribution{{}, schedule.machine.network, format};
    if (schedule.machine.processes == 1) return distribution;
    for (Branch const& branch : schedule.partition.branches)
        distribution.process_of_branch.push_back(schedule.process_of_cblk[branch.root]);
    return distribution;
}

// The home of a task is the owner of its branch; if that is in another process, the home of the task of its
// own process that comes before (send_sum) or after (receive_solution).
void set_homes(SolveTasks& tasks, Schedule const& schedule) {
    auto& home = tasks.graph.home;
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t)
        home[t] = is_at_owner(tasks.tasks[t].kind)
                      ? schedule.owner_of_cblk[cblk_of(tasks.tasks[t], schedule.partition)]
                      : any_worker;
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t)
        for (TaskId const next : tasks.graph.successors_of(t)) {
            if (tasks.tasks[next].kind == SolveTaskKind::send_sum) home[next] = home[t];
            if (tasks.tasks[t].kind == SolveTaskKind::receive_solution) home[t] = home[next];
        }
}

// Groups of rows may run on any thread of the process, other tasks at home if that is not busy.
std::vector<WorkerRange> threads_at_home(SolveTasks const& tasks, MachineModel const& machine) {
    std::vector<WorkerRange> ranges;
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t) {
        WorkerId const home = tasks.graph.home[t]; // none for a message, which no worker runs
        SolveTaskKind const kind = tasks.tasks[t].kind;
        bool const is_group = kind == SolveTaskKind::forward_rows || kind == SolveTaskKind::backward_rows;
        WorkerId const thread = machine.thread_of(home);
        ranges.push_back(is_group || home == any_worker ? WorkerRange{0, machine.threads}
                                                        : WorkerRange{thread, thread + 1});
    }
    return ranges;
}

TimedRun with_transfers(TimedRun run, MessageNetwork const& network) {
    run.transfers.insert(run.transfers.end(), network.transfers().begin(), network.transfers().end());
    return run;
}

} // namespace

ScheduleSettings settings_of_sweeps(ScheduleSettings settings) {
    if (settings.schedule == SchedulePolicy::static_order) settings.schedule = SchedulePolicy::dynamic_tree;
    return settings;
}

SweepSchedule simulate_sweeps(BlockStructure const& structure, CostModel const& model,
                              Schedule const& schedule, ScheduleOptions const& options) {
    SweepSchedule sweeps;
    int const threads = schedule.machine.threads;
    sweeps.tasks =
        build_solve_tasks(structure, schedule.partition, model, distribution_of(schedule, options.format),
                          {threads > 1 ? 2 * threads : 0, options.sweep_entries});
    set_homes(sweeps.tasks, schedule);
    sweeps.candidates = options.schedule == SchedulePolicy::static_order
                            ? threads_at_home(sweeps.tasks, schedule.machine)
                            : candidate_threads(sweeps.tasks, schedule.partition, schedule.mapping);
    std::optional<SweepClock> memory;
    if (options.models_memory)
        memory.emplace(structure, model, options.format, sweeps.tasks, schedule, options.allocation);
    TaskClock* const clock = memory ? &*memory : nullptr;
    MachineModel const& machine = schedule.machine;
    ProcessPolicies policies(settings_of_sweeps(options), sweeps.tasks, machine, sweeps.candidates);
    MessageNetwork network(sweeps.tasks, machine, schedule.comm_threads);
    sweeps.run = with_transfers(
        simulate(sweeps.tasks.graph, policies, machine.num_workers(), &network, clock), network);
    return sweeps;
}

} // namespace espalier
