#include "simulation/sweep_schedule.hpp"

#include <optional>
#include <utility>

#include "policies/static_policy.hpp"
#include "simulation/candidate_queues.hpp"
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
        bool const reads_panels =
            one.kind == SolveTaskKind::forward || one.kind == SolveTaskKind::backward;
        NodeMemory::Access const panels[] = {{reads_panels ? bytes_[one.branch] : 0, node_of(one), false}};
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
    std::vector<double> bytes_; // of the panels of each branch
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
    auto const is_at_owner = [&](TaskId t) {
        return tasks.tasks[t].kind == SolveTaskKind::forward || tasks.tasks[t].kind == SolveTaskKind::backward;
    };
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t)
        home[t] = is_at_owner(t) ? schedule.owner_of_cblk[cblk_of(tasks.tasks[t], schedule.partition)]
                                 : any_worker;
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t)
        for (TaskId const next : tasks.graph.successors_of(t)) {
            if (tasks.tasks[next].kind == SolveTaskKind::send_sum) home[next] = home[t];
            if (tasks.tasks[t].kind == SolveTaskKind::receive_solution) home[t] = home[next];
        }
}

std::vector<TaskRange> ranges_of_homes(TaskGraph const& graph, MachineModel const& machine) {
    std::vector<TaskRange> ranges;
    for (WorkerId const home : graph.home) {
        // A message has no home, and no worker runs it.
        Candidates const own = home == any_worker ? Candidates{0, machine.num_workers()} : Candidates{home, home + 1};
        ranges.push_back({own, own});
    }
    return ranges;
}

TimedRun with_transfers(TimedRun run, MessageNetwork const& network) {
    run.transfers.insert(run.transfers.end(), network.transfers().begin(), network.transfers().end());
    return run;
}

TimedRun run_statically(SweepSchedule const& sweeps, Schedule const& schedule, TaskClock* clock) {
    TaskGraph const& graph = sweeps.tasks.graph;
    int const workers = schedule.machine.num_workers();
    auto const ranges = ranges_of_homes(graph, schedule.machine);
    CandidateQueues queues(graph, ranges, workers);
    MessageNetwork network(sweeps.tasks, schedule.machine, schedule.comm_threads);
    TimedRun planned = simulate(graph, queues, workers, &network);
    if (!clock) return with_transfers(std::move(planned), network);
    MessageNetwork again(sweeps.tasks, schedule.machine, schedule.comm_threads);
    StaticPolicy policy(with_messages(planned.lists, again, graph.num_tasks()), graph.num_tasks());
    return with_transfers(simulate(graph, policy, workers, &again, clock), again);
}

} // namespace

SweepSchedule simulate_sweeps(BlockStructure const& structure, CostModel const& model,
                              Schedule const& schedule, ScheduleOptions const& options) {
    SweepSchedule sweeps;
    sweeps.tasks = build_solve_tasks(structure, schedule.partition, model,
                                     distribution_of(schedule, options.format));
    set_homes(sweeps.tasks, schedule);
    sweeps.candidates = candidate_threads(sweeps.tasks, schedule.partition, schedule.mapping);
    std::optional<SweepClock> memory;
    if (options.models_memory)
        memory.emplace(structure, model, options.format, sweeps.tasks, schedule, options.allocation);
    TaskClock* const clock = memory ? &*memory : nullptr;
    if (options.schedule == SchedulePolicy::static_order) {
        sweeps.run = run_statically(sweeps, schedule, clock);
        return sweeps;
    }
    MachineModel const& machine = schedule.machine;
    ProcessPolicies policies(options, sweeps.tasks, machine, sweeps.candidates);
    MessageNetwork network(sweeps.tasks, machine, schedule.comm_threads);
    sweeps.run = with_transfers(simulate(sweeps.tasks.graph, policies, machine.num_workers(), &network, clock),
                                network);
    return sweeps;
}

} // namespace espalier
