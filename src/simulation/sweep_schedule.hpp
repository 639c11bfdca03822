// The simulated solve with one right-hand side: the forward and the backward sweep of all processes. In: a
// schedule of the factorization, with the owners of panels. Out: the tasks, who runs them, and when.
//
// Panels are read once in each sweep, so the time is bound by the bandwidth of memory: the worker that owns
// the panels of a branch is its home. The sums of sweeps have a fixed order under each policy. Solves with
// the factor of a static schedule therefore run under the tree of queues, too, because a short task near the
// root that waits for its place in a list behind a subtree would stop all other workers. Homes are the
// candidates then.
#pragma once

#include <vector>

#include "policies/make_policy.hpp"
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

/// The policy of solves for a given policy of the factorization.
ScheduleSettings settings_of_sweeps(ScheduleSettings settings);

/// `schedule` needs machine, mapping, partition and owners. With options.models_memory times depend on where
/// panels are stored. Deterministic, and near-linear in the bloks.
SweepSchedule simulate_sweeps(BlockStructure const& structure, CostModel const& model,
                              Schedule const& schedule, ScheduleOptions const& options);

} // namespace espalier
