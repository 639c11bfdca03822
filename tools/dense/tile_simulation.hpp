// The simulated factorization of a tiled matrix. In: the tasks with their costs, the owners of the tiles, the
// settings of the schedule, and the machine. Out: the run in virtual time, under the policy that would run.
#pragma once

#include <vector>

#include "espalier/schedule_settings.hpp"
#include "mapping/machine_model.hpp"
#include "policies/make_policy.hpp"
#include "simulation/engine.hpp"
#include "simulation/node_memory.hpp"
#include "tools/dense/tile_tasks.hpp"

namespace espalier {

/// The owners of the tiles under these settings: for SchedulePolicy::places distributed to NUMA nodes by
/// settings.push_init, otherwise block-cyclic.
TileOwners tile_owners(DenseKind kind, TileGrid const& grid, PolicyMachine const& machine,
                       ScheduleSettings const& settings);

/// The static lists, in which each task runs on the owner of the tile that it writes, or the ranges of
/// workers that a policy is made from.
struct TilePlan {
    StaticSchedule schedule;         ///< Only for static_order.
    std::vector<WorkerRange> ranges; ///< Only for dynamic_tree.

    TilePlan(TileTasks const& tasks, PolicyMachine const& machine, SchedulePolicy kind);
    [[nodiscard]] PolicyPlan for_policy() const { return {&schedule.lists, &ranges}; }
};

/// The times of tasks whose tiles lie where `allocation` places them: with their owners, all on NUMA node 0,
/// or spread over all nodes. A task reads and writes whole tiles, and of a triangle half a tile.
class TileClock : public TaskClock {
  public:
    /// `thread_bandwidth` in bytes per second. Everything else must outlive this.
    TileClock(TileTasks const& tasks, TileOwners const& owners, MachineModel const& machine,
              double thread_bandwidth, Allocation allocation)
        : tasks_(tasks), owners_(owners), machine_(machine), allocation_(allocation),
          memory_(machine, thread_bandwidth) {}

    double begin(TaskId task, WorkerId worker, double now) override;
    void end(TaskId, WorkerId worker) override { memory_.end(worker); }
    [[nodiscard]] TouchedBytes const& touched() const { return memory_.touched().front(); }

  private:
    [[nodiscard]] int node_of(std::int32_t i, std::int32_t j) const;

    TileTasks const& tasks_;
    TileOwners const& owners_;
    MachineModel const& machine_;
    Allocation allocation_;
    NodeMemory memory_;
};

struct SimulatedTiles {
    TimedRun run;
    std::vector<std::int64_t> steals; ///< By worker.
    std::vector<std::int64_t> steals_by_distance;
    double local_share = 1; ///< The share of the accessed bytes on the node of the worker.

    /// Idle share of the time of the workers.
    [[nodiscard]] double idle() const;
    /// The time of all tasks on their workers.
    [[nodiscard]] double busy_s() const;
};

/// `tasks` has the homes of `owners`; `machine` is one process. Deterministic.
SimulatedTiles simulate_tiles(TileTasks const& tasks, TileOwners const& owners, MachineModel const& machine,
                              double thread_bandwidth, ScheduleSettings const& settings);

} // namespace espalier
