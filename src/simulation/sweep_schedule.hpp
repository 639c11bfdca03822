// The simulated solve with one right-hand side: the forward and the backward sweep of all processes, under
// the policy of the factorization. In: a schedule of the factorization, with the owners of panels. Out: the
// tasks, who runs them, and when.
//
// Panels are read once in each sweep, so the time is bound by the bandwidth of memory: with a static schedule
// a branch runs on the worker that owns its panels, and with the other policies that worker is its home.
#pragma once

#include <vector>

#include "simulation/engine.hpp"
#include "tasks/solve_tasks.hpp"

namespace espalier {

struct Schedule;
struct ScheduleOptions;

struct SweepSchedule {
    SolveTasks tasks;                    ///< Homes are workers.
    std::vector<WorkerRange> candidates; ///< By task: threads of its process.
    TimedRun run;                        ///< In seconds.
};

/// `schedule` needs machine, mapping, partition and owners. With options.models_memory times depend on where
/// panels are stored. Deterministic, and near-linear in the bloks.
SweepSchedule simulate_sweeps(BlockStructure const& structure, CostModel const& model,
                              Schedule const& schedule, ScheduleOptions const& options);

} // namespace espalier
