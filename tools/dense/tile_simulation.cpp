#include "tools/dense/tile_simulation.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "simulation/candidate_queues.hpp"

namespace espalier {

TileOwners tile_owners(DenseKind kind, TileGrid const& grid, PolicyMachine const& machine,
                       ScheduleSettings const& settings) {
    if (settings.schedule != SchedulePolicy::places) return TileOwners(machine.num_workers());
    return {kind, grid, machine, settings.push_init, settings.seed};
}

TilePlan::TilePlan(TileTasks const& tasks, PolicyMachine const& machine, SchedulePolicy kind) {
    if (kind == SchedulePolicy::static_order) schedule = list_schedule(tasks.graph, machine.num_workers());
    if (kind == SchedulePolicy::dynamic_tree) ranges = candidate_workers(tasks, machine);
}

int TileClock::node_of(std::int32_t i, std::int32_t j) const {
    if (allocation_ == Allocation::global) return 0;
    return allocation_ == Allocation::interleave ? NodeMemory::all_nodes : machine_.node_of(owners_.of(i, j));
}

double TileClock::begin(TaskId id, WorkerId worker, double) {
    TileGrid const& grid = tasks_.grid;
    std::int32_t const count = grid.count();
    TileTask const& task = tasks_.tasks[id];
    TileAccesses const data = accesses(task, count);
    std::array<NodeMemory::Access, NodeMemory::most_accesses> found;
    std::size_t size = 0;
    auto const add = [&](std::int32_t datum, bool is_written) {
        if (datum < 0) return;
        bool const is_reflections = datum >= count * count; // below the diagonal of tile (k, k)
        std::int32_t const i = is_reflections ? task.k : datum / count;
        std::int32_t const j = is_reflections ? task.k : datum % count;
        // All kernels but tsmqr access only a triangle of a tile on the diagonal.
        bool const is_triangle = i == j && task.kernel != TileKernel::tsmqr;
        auto const bytes = static_cast<double>(grid.size(i) * grid.size(j)) * sizeof(double);
        found[size++] = {is_triangle ? bytes / 2 : bytes, node_of(i, j), is_written};
    };
    for (std::int32_t const datum : data.read) add(datum, false);
    for (std::int32_t const datum : data.written) add(datum, true);
    return memory_.begin(worker, tasks_.graph.cost[id], {found.data(), size});
}

double SimulatedTiles::busy_s() const {
    return std::accumulate(run.busy.begin(), run.busy.end(), 0.0);
}

double SimulatedTiles::idle() const {
    double const all = run.makespan * static_cast<double>(run.busy.size());
    return all > 0 ? std::max(0.0, 1 - busy_s() / all) : 0;
}

SimulatedTiles simulate_tiles(TileTasks const& tasks, TileOwners const& owners, MachineModel const& machine,
                              double thread_bandwidth, ScheduleSettings const& settings) {
    PolicyMachine const places(machine.node_of_thread, machine.node_distances);
    TilePlan const plan(tasks, places, settings.schedule);
    auto const policy = make_policy(settings, tasks.graph, places, plan.for_policy());
    TileClock clock(tasks, owners, machine, thread_bandwidth, settings.allocation);
    SimulatedTiles result;
    result.run = simulate(tasks.graph, *policy, machine.num_workers(), nullptr, &clock);
    for (WorkerId w = 0; w < machine.num_workers(); ++w) result.steals.push_back(policy->steals(w));
    result.steals_by_distance = policy->steals_by_distance();
    result.local_share = clock.touched().share();
    return result;
}

} // namespace espalier
