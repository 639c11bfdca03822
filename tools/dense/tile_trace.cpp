#include "tools/dense/tile_trace.hpp"

#include <algorithm>

#include "trace/record.hpp"

namespace espalier {

trace::Kind trace_kind(TileKernel kernel) {
    bool const factors = kernel == TileKernel::potrf || kernel == TileKernel::trsm ||
                         kernel == TileKernel::geqrt || kernel == TileKernel::tsqrt;
    return factors ? trace::Kind::factor : trace::Kind::update;
}

std::int32_t trace_level(TileTask const& task, TileGrid const& grid) {
    return grid.count() - 1 - task.k;
}

trace::TraceParts simulated_trace(TileTasks const& tasks, MachineModel const& machine, TimedRun const& run) {
    trace::TraceParts parts;
    parts.kinds = trace::standard_kinds();
    parts.variables = trace::standard_variables();
    parts.metadata["origin"] = "predicted";
    std::vector<trace::ThreadInfo> threads;
    for (int t = 0; t < machine.threads; ++t) threads.push_back({t, machine.node_of(t), ""});
    auto const containers = trace::add_process(parts.containers, 0, 1, threads); // the process is the last

    auto const add_state = [&](trace::Kind kind, std::int32_t container, double from, double to) -> auto& {
        trace::State state;
        state.start = trace::nanoseconds(from), state.end = trace::nanoseconds(to);
        state.container = container, state.kind = static_cast<std::int16_t>(kind);
        return parts.states.emplace_back(state);
    };
    for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t) {
        TileTask const& task = tasks.tasks[t];
        trace::State& state =
            add_state(trace_kind(task.kernel), containers[run.worker_of_task[t]], run.start[t], run.end[t]);
        state.task = t, state.cblk = task.j;
        state.level = static_cast<std::int16_t>(std::min(trace_level(task, tasks.grid), 32767));
        for (TaskId const next : tasks.graph.successors_of(t)) parts.dependencies.push_back({t, next});
    }
    trace::fill_idle(parts, static_cast<std::int16_t>(trace::Kind::idle), 0,
                     trace::nanoseconds(run.makespan));
    add_state(trace::Kind::factorization, containers.back(), 0, run.makespan);
    for (TimedSteal const& steal : run.steals) {
        if (steal.victim == any_worker) continue;
        trace::Nanoseconds const time = trace::nanoseconds(steal.time);
        parts.links.push_back({time, time, 0, steal.task, containers[steal.victim], containers[steal.thief],
                               steal.distance, trace::LinkKind::steal});
    }
    return parts;
}

} // namespace espalier
