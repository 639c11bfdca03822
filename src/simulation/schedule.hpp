// The simulated schedule: proportional mapping, owners, task graph and its simulation, as one value that says
// what each thread of each process runs, in which order, and when. In: structure, cost model, machine (which
// may be elsewhere). Out: owners, lists, predicted times, communication and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "mapping/branches.hpp"
#include "mapping/cost_model.hpp"
#include "mapping/machine_model.hpp"
#include "mapping/proportional.hpp"
#include "policies/policy_machine.hpp"
#include "simulation/engine.hpp"
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
    /// See cut_branches. 0: 3 for a static schedule, 16 for the policies of the runtime, which balance the
    /// load as they run.
    double subtrees_per_worker = 0;
};

/// What a process holds and exchanges. Bytes.
struct ProcessUse {
    double panels = 0;      ///< Of the cblks it owns.
    double fan_in_peak = 0; ///< Most fan-in blocks at a time: from the first contribution to the end of the
                            ///< message, and from then until they are added.
    double sent = 0;
    double received = 0;
    std::int64_t messages_sent = 0;
    std::int64_t messages_received = 0;
    std::int64_t steals = 0;
    double local_bytes = 0; ///< Of the bytes that its tasks worked on, those near the worker ...
    double bytes = 0;       ///< ... and all; both 0 without an allocation.
    [[nodiscard]] double memory() const { return panels + fan_in_peak; }
};

struct Schedule {
    MachineModel machine;
    std::vector<double> cblk_cost; ///< Seconds, updates to elsewhere included.
    Mapping mapping;
    BranchPartition partition;
    RowGroups groups;
    FactorTasks tasks; ///< graph.home: the owner of what is written, or in a static schedule the worker that
                       ///< runs the task.
    std::vector<WorkerRange> candidates; ///< Of each task, threads of its process.
    TimedRun run;                        ///< Times, lists and busy times in seconds.
    std::vector<std::int32_t>
        process_of_cblk;                 ///< Owners: the process, and the worker of it whose memory has the
    std::vector<WorkerId> owner_of_cblk; ///< panel. In a static schedule it factorizes it; else the
                                         ///< candidates take turns.
    std::vector<std::int64_t> steals_by_distance; ///< As the policies count them.
    std::vector<ProcessUse> processes;

    [[nodiscard]] double makespan() const { return run.makespan; }
    [[nodiscard]] double total_work() const;         ///< Seconds of all tasks; messages are none.
    [[nodiscard]] double memory_seconds() const;     ///< The part of it that distance and contention cost.
    [[nodiscard]] double local_share() const;        ///< Of the bytes that tasks worked on.
    [[nodiscard]] std::int64_t steals() const;       ///< Of all processes.
    [[nodiscard]] double critical_path() const;      ///< Seconds: no schedule of these tasks is shorter.
    [[nodiscard]] double efficiency() const;         ///< Busy part of workers x makespan; 1 for no work.
    [[nodiscard]] std::int64_t messages() const;     ///< Between processes.
    [[nodiscard]] double message_bytes() const;      ///< Their sum: the communication volume.
    [[nodiscard]] CblkId cblk_of(TaskId task) const; ///< Whose panel it writes; of a branch its root.
};

/// Deterministic, and near-linear in the bloks and tasks; the number of workers enters by its logarithm (by
/// policies other than the static one, where they look for work in vain, by more).
/// Error{usage} for a machine without workers.
Schedule simulate_schedule(BlockStructure const& structure, CostModel const& model,
                           MachineModel const& machine, ScheduleOptions const& options = {});

/// The distance of each cblk from the root of its tree.
std::vector<std::int32_t> tree_levels(BlockStructure const& structure);

} // namespace espalier
