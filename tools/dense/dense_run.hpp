// The factorization of a tiled matrix on the threads of the runtime, under any policy.
#pragma once

#include "runtime/worker_team.hpp"
#include "tools/dense/tile_tasks.hpp"
#include "tools/dense/tiled_matrix.hpp"

namespace espalier {

/// Factorizes `matrix`, which must be filled. Every policy gives the same bits, as each tile receives its
/// updates in the same order. If the team has a recorder, it records the tasks (factor: potrf, trsm, geqrt,
/// tsqrt; update: the others; the level is the number of remaining steps), their dependencies, and the phase.
RunStats factorize_tiles(TiledMatrix const& matrix, TileTasks const& tasks, Policy& policy, WorkerTeam& team);

} // namespace espalier
