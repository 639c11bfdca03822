// The simulated schedule: proportional mapping, owners, the task graph and its simulation in one value, which
// states what each thread of each process runs, in which order, and when. In: structure, cost model, machine
// (not necessarily this one). Out: owners, lists, predicted times, communication and memory.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "mapping/branches.hpp"
#include "mapping/cost_model.hpp"
#include "mapping/machine_model.hpp"
#include "mapping/proportional.hpp"
#include "simulation/engine.hpp"
#include "simulation/sweep_schedule.hpp"
#include "tasks/factor_tasks.hpp"
#include "tasks/row_groups.hpp"

namespace espalier {

/// static_order: list scheduling by candidates and priorities, with sums in a fixed order. The other policies
/// are those of the runtime, with sums in the order in which contributions are computed.
struct ScheduleOptions : ScheduleSettings {
    PanelFormat format = {};
    /// Task times depend on where panels are stored (memory_clock.hpp). A static plan is made without these
    /// times and then run with them. Otherwise `allocation` has no effect: all memory is equally near.
    bool models_memory = false;
    MappingOptions mapping = {};
    Offset sweep_entries = SweepDivision{}.fewest_entries; ///< SweepDivision::fewest_entries.
};

/// The communication threads of each process.
struct CommThreads {
    int count = 1; ///< 0, 1 or 2.
    bool have_own_cores = true;
};

/// Memory and messages of a process, in bytes.
struct ProcessUse {
    double panels = 0;      ///< The panels of the cblks that it owns.
    double fan_in_peak = 0; ///< The maximum of its fan-in blocks over time: each is stored from its first
                            ///< contribution to the end of its message, and from then until it is added.
    double sent = 0;
    double received = 0;
    std::int64_t messages_sent = 0;
    std::int64_t messages_received = 0;
    std::int64_t steals = 0;
    double local_bytes = 0; ///< The bytes of panels that its tasks accessed on the node of the worker,
    double bytes = 0;       ///< and on all nodes; both 0 unless ScheduleOptions::models_memory.
    [[nodiscard]] double memory() const { return panels + fan_in_peak; }
};

struct Schedule {
    MachineModel machine;
    CommThreads comm_threads;
    std::vector<double> cblk_cost; ///< Seconds of each cblk, its updates of other cblks included.
    Mapping mapping;
    BranchPartition partition;
    RowGroups groups;
    FactorTasks tasks; ///< graph.home: in a static schedule the worker that runs the task, else the owner of
                       ///< the panel that it writes.
    std::vector<WorkerRange> candidates; ///< By task: threads of its process.
    std::vector<double> shortest_cost;   ///< By task: seconds if any number of workers help; empty if no
                                         ///< task is divided.
    TimedRun run;                        ///< Times, lists and busy times in seconds.
    std::vector<std::int32_t> process_of_cblk; ///< The owner of each cblk.
    /// The worker of that process whose memory holds the panel. In a static schedule it factorizes the cblk;
    /// else candidates take turns.
    std::vector<WorkerId> owner_of_cblk;
    std::vector<std::int64_t> steals_by_distance; ///< The counts of the policies.
    std::vector<ProcessUse> processes;
    SweepSchedule sweeps; ///< Solves with the factor.

    [[nodiscard]] double makespan() const { return run.makespan; }
    [[nodiscard]] double solve_seconds() const { return sweeps.run.makespan; } ///< One right-hand side.
    [[nodiscard]] double total_work() const;     ///< Seconds of all tasks but messages.
    [[nodiscard]] double memory_seconds() const; ///< The part of total_work() due to distance and contention.
    [[nodiscard]] double communication_seconds() const; ///< TimedRun::communication of all workers.
    [[nodiscard]] double local_share() const;           ///< The local part of the bytes that tasks accessed.
    [[nodiscard]] std::int64_t steals() const;
    [[nodiscard]] std::int64_t tasks_divided() const; ///< Tasks that several workers worked on.
    [[nodiscard]] double critical_path() const; ///< Seconds; a lower bound for every schedule of these tasks.
    [[nodiscard]] double efficiency() const;    ///< total_work() / (workers x makespan()); 1 without work.
    [[nodiscard]] std::int64_t messages() const; ///< Between processes.
    [[nodiscard]] double message_bytes() const;  ///< The communication volume.
};

/// Deterministic, and near-linear in the bloks and tasks. The number of workers enters by its logarithm;
/// policies other than the static one also spend time on searches that find nothing. Error{usage} for a
/// machine without workers.
Schedule simulate_schedule(BlockStructure const& structure, CostModel const& model,
                           MachineModel const& machine, ScheduleOptions const& options = {});

/// The distance of each cblk from the root of its tree.
std::vector<std::int32_t> tree_levels(BlockStructure const& structure);

} // namespace espalier
