// Tiled factorizations in traces: the kinds of their tasks, and the trace of a simulated run.
#pragma once

#include "mapping/machine_model.hpp"
#include "tools/dense/tile_simulation.hpp"
#include "trace/kinds.hpp"
#include "trace/trace.hpp"

namespace espalier {

/// factor: potrf, trsm, geqrt, tsqrt; update: the others.
trace::Kind trace_kind(TileKernel kernel);

/// The number of steps after that of `task`, as the level of its state.
std::int32_t trace_level(TileTask const& task, TileGrid const& grid);

/// The states, steals and dependencies of a run, in the form of the trace of a real one.
trace::TraceParts simulated_trace(TileTasks const& tasks, MachineModel const& machine, TimedRun const& run);

} // namespace espalier
